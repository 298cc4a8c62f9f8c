import type { StatedReason } from './soak-laws.ts';

interface Line {
  readonly time: string;
  readonly msg: string;
  readonly pod?: { readonly uid: string };
  readonly because?: { readonly code: string; readonly facts: Readonly<Record<string, unknown>> };
}

const MIB_OF_SUFFIX: Readonly<Record<string, number>> = { '': 1 / 1024 ** 2, Ki: 1 / 1024, Mi: 1, Gi: 1024 };

/** What an agent said of each eviction in its log. */
export function statedReasons(log: string, totalMiB: number): readonly StatedReason[] {
  return log.split('\n').flatMap((text) => {
    if (!text.startsWith('{')) return [];
    const { time, msg, pod, because } = JSON.parse(text) as Line;
    if (msg !== 'Eviction answered' || pod === undefined || because === undefined) return [];
    const { code, facts } = because;
    const { availableShare } = facts;
    return [
      {
        atMs: Date.parse(time) - performance.timeOrigin,
        pod: pod.uid,
        code,
        signal: String(facts['signal']),
        availableMiB: typeof availableShare === 'number' ? availableShare * totalMiB : mebibytes(facts['available']),
        kubeletMiB: mebibytes(facts['kubeletAvailable']),
        thresholdMiB: mebibytes(facts['threshold']),
        stalledShare: Number(facts['shortRatio']),
      },
    ];
  });
}

function mebibytes(text: unknown): number | undefined {
  const [, amount, suffix = ''] = /^(\d+)(Ki|Mi|Gi)?$/.exec(String(text)) ?? [];
  const factor = MIB_OF_SUFFIX[suffix];
  return amount === undefined || factor === undefined ? undefined : Number(amount) * factor;
}
