import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { BySpareKind } from '#shared/domain/spare/spare-resources.ts';

/** Amounts that a node is to offer, and since when. */
export interface Published extends BySpareKind<number> {
  readonly at: Instant;
}

export interface Publishable {
  readonly lendable: number;
  /** Requested by spare pods. */
  readonly taken: number;
  readonly allocatable: number;
}

/** A rise by less than this share of what pods can use is not published: large pods need room at once. */
const PORTION = 0.12;
/** Nor is one so soon after another change. */
const RISE_MS = 22 * MINUTE_MS;
/** A fall by less than this share is not published: what is lent too much for long is evicted later. */
const SLACK = 0.01;

/**
 * What to publish: never less than spare pods request, because the kubelet would end them at its next start. More is
 * published in large portions and seldom, so that large pods find room and writes are few; less at once, but only
 * while it could still be taken.
 */
export function publish(
  before: Published,
  { memory, cpu, at }: BySpareKind<Publishable> & { readonly at: Instant },
): Published {
  const wanted = { memory: wantedOf(memory), cpu: wantedOf(cpu), at };
  const mayRise = at - before.at >= RISE_MS;
  if (mayRise && (isRise(before.memory, memory) || isRise(before.cpu, cpu))) return wanted;
  const held = { memory: Math.max(before.memory, memory.taken), cpu: Math.max(before.cpu, cpu.taken), at: before.at };
  if (!isFall(before.memory, memory) && !isFall(before.cpu, cpu)) return held;
  return { memory: Math.min(held.memory, wanted.memory), cpu: Math.min(held.cpu, wanted.cpu), at };
}

function wantedOf({ lendable, taken }: Publishable): number {
  return Math.max(lendable, taken);
}

function isRise(amount: number, { lendable, taken, allocatable }: Publishable): boolean {
  return lendable >= Math.max(taken, amount) + PORTION * allocatable;
}

function isFall(amount: number, now: Publishable): boolean {
  return amount > now.taken && wantedOf(now) < amount - SLACK * now.allocatable;
}
