import { describe } from 'vitest';
import { useApps } from '../../support/use-apps.ts';
import { describeCreateFaults } from './create-faults.ts';

const { buildForFile } = useApps();

describe('With the stores of one process and the embedded database', () => {
  describeCreateFaults(() => buildForFile(), ['direct', 'brokered']);
});
