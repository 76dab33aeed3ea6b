import { allProviders, StandInBench } from './benches.ts';
import { describeBrokered } from './brokered-suite.ts';

for (const name of Object.keys(allProviders)) describeBrokered(name, () => StandInBench.open(name));
