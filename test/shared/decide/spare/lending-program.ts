/**
 * Speaks the line protocol of the judge of spare room: what each node publishes, by the decision of the agent itself.
 * `SPARE_DIGESTS` names a folder where digests are kept, as a NodePressure keeps them for an agent that starts.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { encodeDigest, restoreSpareState, type WrittenSpare } from '#shared/decide/spare/digest.ts';
import type { SpareObservation } from '#shared/decide/spare/lendable.ts';
import { decideSpare, type SpareState } from '#shared/decide/spare/spare.ts';
import type { SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { NO_SPARE } from '#shared/domain/spare/spare-settings.ts';

interface JudgedNode {
  readonly name: string;
  readonly memoryCapacity: number;
  readonly memoryAllocatable: number;
  readonly cpuCapacity: number;
  readonly cpuAllocatable: number;
  readonly softThreshold: number;
}

type Message =
  | { readonly protocol: number; readonly nodes: readonly JudgedNode[] }
  | { readonly protocol?: undefined; readonly t: number; readonly nodes: readonly (readonly number[])[] };

const folder = process.env['SPARE_DIGESTS'];
let nodes: readonly JudgedNode[] = [];
const states = new Map<string, SpareState>();

/** The places of a resource in a row: requested, used, by the system, requested and used by spare pods. */
const PLACES = { memory: [0, 2, 4, 6, 8], cpu: [1, 3, 5, 7, 9] } as const;

function observed(node: JudgedNode, row: readonly number[], kind: SpareKind): SpareObservation {
  const [requested = 0, used = 0, system = 0, taken = 0, spareUsed = 0] = PLACES[kind].map((place) => row[place]);
  const capacity = node[`${kind}Capacity`];
  return {
    capacity,
    allocatable: node[`${kind}Allocatable`],
    ceiling: kind === 'memory' ? capacity - node.softThreshold : capacity,
    used: used + system,
    requested,
    spare: { requested: taken, used: spareUsed },
    textOf: String,
  };
}

function fileOf(node: string): string | undefined {
  return folder === undefined ? undefined : join(folder, `${node}.json`);
}

function start(node: string, now: number): SpareState {
  const file = fileOf(node);
  const written =
    file !== undefined && existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as WrittenSpare) : undefined;
  return restoreSpareState(written !== undefined && written.at <= now ? written : undefined, now);
}

function answer(node: JudgedNode, row: readonly number[], now: number): readonly number[] {
  const before = states.get(node.name) ?? start(node.name, now);
  const seen = { memory: observed(node, row, 'memory'), cpu: observed(node, row, 'cpu') };
  const { state } = decideSpare(before, seen, NO_SPARE, now);
  states.set(node.name, state);
  const { memory, cpu } = state.published;
  const file = now % 120_000 === 0 ? fileOf(node.name) : undefined;
  const written: WrittenSpare = {
    digest: encodeDigest(state),
    since: state.memory.history.since,
    at: now,
    lent: { memory, cpu },
  };
  if (file !== undefined) writeFileSync(file, JSON.stringify(written));
  return [Math.floor(memory), Math.floor(cpu)];
}

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line) as Message;
  if (message.protocol === undefined) {
    const { t, nodes: rows } = message;
    process.stdout.write(`${JSON.stringify(nodes.map((node, index) => answer(node, rows[index] ?? [], t * 1000)))}\n`);
  } else ({ nodes } = message);
}
