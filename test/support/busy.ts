/**
 * How many times as long as promised things may take in a test: machines that run tests are busy with other work. It tells
 * an answer at a deadline from a hang; whether the promised time itself is kept is for the benchmarks and the fault test.
 */
export const BUSY = 4;
