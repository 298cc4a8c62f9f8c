/**
 * A rescheduler for the closed loop of the oracle: one request a line on standard input, one answer a line on standard
 * output, decided by the functions of the product.
 */
import { createInterface } from 'node:readline';
import { NO_MEMORY, type ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import type { Move } from '#shared/domain/rescheduling/pass.ts';
import { LONG_AVOID_MS } from '#shared/domain/rescheduling/policies/move-candidate.ts';
import { passOver, type RecordedSnapshot } from './recorded-cluster.ts';
import { policyOf, type RecordedSettings, rulesOf } from './recorded-settings.ts';

interface Request {
  readonly snapshot: RecordedSnapshot;
  readonly settings: RecordedSettings;
}

/** Moves in five minutes, as with five a minute. */
const MAX_COUNTS = 25;
/** An entry of a swap ends once the replacement is placed, which here is at once. */
const UNTIL_PLACED_MS = 60_000;

interface Avoided {
  readonly owner: string;
  readonly node: string;
  readonly until: number;
}

let memory: ReschedulingMemory = NO_MEMORY;
let entries: readonly Avoided[] = [];
for await (const line of createInterface({ input: process.stdin })) {
  const { snapshot, settings } = JSON.parse(line) as Request;
  const now = Date.parse(snapshot.time);
  const lasting = entries.filter(({ until }) => until > now);
  const avoided = (owner: string) => new Set(lasting.filter((each) => each.owner === owner).map(({ node }) => node));
  const policy = policyOf(settings, 'High');
  const rules = { ...rulesOf(settings), fitElsewhere: true };
  const result = passOver(snapshot, { policy, rules, memory, most: MAX_COUNTS, avoided });
  memory = result.memory;
  entries = [...lasting, ...result.moves.flatMap((move) => entryOf(move, now))];
  process.stdout.write(`${JSON.stringify({ evictions: result.moves.map(evictionOf) })}\n`);
}

function lifetimeMs({ avoidForMs }: Move): number {
  return avoidForMs === LONG_AVOID_MS ? LONG_AVOID_MS : Math.min(avoidForMs, UNTIL_PLACED_MS);
}

function entryOf(move: Move, now: number): readonly Avoided[] {
  const forMs = lifetimeMs(move);
  return forMs === 0 ? [] : [{ owner: move.pod.owner.key.uid ?? '', node: move.from, until: now + forMs }];
}

function evictionOf(move: Move): object {
  const { namespace, name, uid } = move.pod.placed.pod;
  const seconds = lifetimeMs(move) / 1_000;
  const avoid = seconds > 0 ? { avoid: 'soft', avoidSeconds: seconds } : {};
  return { pod: `${namespace}/${name}`, uid, reason: move.because.text, ...avoid };
}
