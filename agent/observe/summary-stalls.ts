import { isRecord } from '#shared/kube/kube-object.ts';
import { absent, reading, type Reading } from './reading.ts';
import type { Stall, Stalls } from './stall.ts';

/** PSI of the node as the kubelet's summary has it. */
export interface SummaryStalls {
  readonly memory: Reading<Stalls>;
  readonly cpu: Reading<Stalls>;
  readonly io: Reading<Stalls>;
}

function field(value: unknown, key: string): unknown {
  return isRecord(value) ? value[key] : undefined;
}

function figure(value: unknown, key: string): number {
  const found = field(value, key);
  return typeof found === 'number' && found >= 0 ? found : Number.NaN;
}

function stallOf(line: unknown): Stall | undefined {
  const totalMicroseconds = figure(line, 'total');
  if (Number.isNaN(totalMicroseconds)) return undefined;
  const [avg10, avg60, avg300] = [figure(line, 'avg10'), figure(line, 'avg60'), figure(line, 'avg300')];
  return { avg10, avg60, avg300, totalMicroseconds };
}

function stallsOf(part: unknown): Stalls | undefined {
  const psi = field(part, 'psi');
  const some = stallOf(field(psi, 'some'));
  return some === undefined ? undefined : { some, full: stallOf(field(psi, 'full')) };
}

function answer(stalls: Stalls | undefined, isAlive: boolean): Reading<Stalls> {
  if (stalls === undefined) return absent('the summary has no psi');
  return isAlive ? reading(stalls) : absent('the summary has only zeros as psi, as on cgroup v1');
}

/**
 * Reads `node.{memory,cpu,io}.psi`; `total` is in microseconds. On cgroup v1 the kubelet writes zeros instead of leaving
 * it out: any live node has waited for a CPU once, so a cpu total of 0 means unknown (real-kubernetes.md 5.9, 8.3).
 */
export function summaryStalls(raw: unknown): SummaryStalls {
  const node = field(raw, 'node');
  const cpu = stallsOf(field(node, 'cpu'));
  const isAlive = cpu !== undefined && cpu.some.totalMicroseconds > 0;
  return {
    memory: answer(stallsOf(field(node, 'memory')), isAlive),
    cpu: answer(cpu, isAlive),
    io: answer(stallsOf(field(node, 'io')), isAlive),
  };
}
