/**
 * `inside`: nobody inside its request goes while a pod above its own is there. `stead`: nobody goes in the stead of a less
 * important pod above its request that is held. `asked`: the pod that takes the memory is
 * asked before the kernel kills. `innocents`, `oom`, `short`: the node is no worse than with the kubelet alone. `dryRun`:
 * nothing differs from the kubelet alone. `gate`: what is said to hold evictions back does. `limits`: no window of the
 * policy is exceeded, except in the last chance up to the kubelet's pace. `standBack`: after the kubelet evicted a pod, the
 * agent waits.
 */
export type Law =
  'inside' | 'stead' | 'asked' | 'innocents' | 'oom' | 'short' | 'dryRun' | 'gate' | 'limits' | 'standBack';

/** A law that an episode broke; `cause` groups breaches. */
export interface Breach {
  readonly law: Law;
  readonly cause: string;
  readonly atMs: number;
  readonly text: string;
}
