import { z } from 'zod';
import { variable } from '../../config/variable.ts';

export const pricesFile = variable(
  'PRICES_FILE',
  z.string().min(1),
  { unset: 'unset: config/prices.json alone' },
  'file with model prices, which take precedence over config/prices.json',
  { example: '/etc/switchboard/prices.json' },
);
