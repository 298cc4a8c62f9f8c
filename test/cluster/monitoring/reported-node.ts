import {
  type FakeKubelet,
  type MeasuredPod,
  memorySummary,
  startFakeKubelet,
} from '#test/cluster/support/fake-kubelet.ts';

const ENOUGH = { availableMebibytes: 800, capacityMebibytes: 1_000 };
const SHORT = { availableMebibytes: 100, capacityMebibytes: 1_000 };
/** Percent of the time; a total above zero says that the kernel counts at all. */
const STALLS = { total: 1_000_000, avg10: 4, avg60: 4, avg300: 4 };

/** A node as its kubelet reports it: its memory, and pods that wait a little for a CPU. */
export interface ReportedNode {
  /** Reports these pods from now on. */
  use(pods: readonly MeasuredPod[]): void;
  /** Reports a shortage of memory from now on, or its end. */
  setShort(isShort: boolean): void;
  serve(): Promise<FakeKubelet>;
}

/** With enough memory and no pods. */
export function reportedNode(name: string): ReportedNode {
  let pods: readonly MeasuredPod[] = [];
  let memory = ENOUGH;
  return {
    use: (used) => {
      pods = used;
    },
    setShort: (isShort) => {
      memory = isShort ? SHORT : ENOUGH;
    },
    serve: () => startFakeKubelet(() => withStalls(memorySummary(name, memory, pods))),
  };
}

function withStalls(summary: { readonly node: object; readonly pods: readonly object[] }): object {
  const cpu = { time: new Date().toISOString(), psi: { some: STALLS, full: STALLS } };
  return { node: { ...summary.node, cpu }, pods: summary.pods.map((pod) => ({ ...pod, cpu })) };
}
