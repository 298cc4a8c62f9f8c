import { reason } from '#shared/domain/base/because.ts';

interface Expected {
  readonly peak: string;
  readonly spareUsed: string;
}

/** Why so much can be lent: amounts as text. */
export const LENDING = {
  room: reason(
    'Room',
    (f: Expected & { readonly lendable: string }) =>
      `other pods and the system may soon use up to ${f.peak}, and spare pods use ${f.spareUsed}: they may request ${f.lendable} in all`,
  ),
  noRoom: reason(
    'NoRoom',
    (f: Expected) =>
      `other pods and the system may soon use up to ${f.peak}, and spare pods use ${f.spareUsed}: nothing more is lent`,
  ),
  noHistory: reason(
    'NoHistory',
    (f: { readonly minutes: number }) => `usage has been measured for ${f.minutes} of 60 minutes; nothing is lent yet`,
  ),
  noThreshold: reason(
    'NoThreshold',
    () => 'no threshold of the policy evicts pods for memory, so spare pods would not make way: nothing is lent',
  ),
  doubtful: reason('Doubtful', () => 'the sources of memory figures contradict each other: nothing is lent'),
};
