import { compareTexts } from '#shared/domain/base/texts.ts';
import { readableBytes } from '#shared/domain/quantity/format-quantity.ts';
import type { SpareKind } from '#shared/domain/spare/spare-resources.ts';
import { idleOf } from '#shared/domain/spare/spare-sums.ts';

export interface SpareView extends Readonly<Record<SpareKind, SpareAmountsView>> {
  /** Whether the node lends (`Enforce`), or only reports what it would lend. */
  readonly mode: string;
}

/** Memory in bytes, CPU in thousandths of a core. */
export interface SpareAmountsView {
  /** What the node has, if the agent reports it. */
  readonly capacity: number | undefined;
  /** Requested and used are without spare pods, p99 is a percentile of used. */
  readonly requested: number;
  readonly used: number;
  readonly p99: number;
  readonly lendable: number;
  readonly lent: number;
  /** Requested by spare pods. */
  readonly taken: number;
  /** Why nothing can be lent; empty if something can. */
  readonly why: string;
}

/** One node that measures spare room. */
export interface NodeLoad extends SpareAmountsView {
  readonly name: string;
  readonly mode: string;
}

interface MeasuredNode {
  readonly name: string;
  readonly spare: SpareView | undefined;
}

/** The nodes that measure spare room; those that waste most come first. */
export function nodeLoads(nodes: Iterable<MeasuredNode>, kind: SpareKind): readonly NodeLoad[] {
  return [...nodes]
    .flatMap(({ name, spare }) => (spare === undefined ? [] : { name, mode: spare.mode, ...spare[kind] }))
    .sort((a, b) => idleOf(b) - idleOf(a) || compareTexts(a.name, b.name));
}

/** Shares of the bar of a node, which is as long as what the node has, or longer where more is requested. */
export interface LoadShares {
  readonly used: number;
  /** From there on. */
  readonly lendable: number;
  readonly p99: number;
  readonly requested: number;
  /** Where lent room ends, if any is lent. */
  readonly lent: number | undefined;
}

export function loadShares({ capacity = 0, used, p99, requested, lendable, lent, mode }: NodeLoad): LoadShares {
  const offered = mode === 'Enforce' ? lent : 0;
  const end = Math.max(capacity, requested, p99, used + lendable, used + offered);
  const share = (amount: number) => (end === 0 ? 0 : Math.round(Math.min(1, amount / end) * 10_000) / 10_000);
  return {
    used: share(used),
    lendable: share(lendable),
    p99: share(p99),
    requested: share(requested),
    lent: offered > 0 ? share(used + offered) : undefined,
  };
}

/** The figures of a node in words. */
export function loadText(kind: SpareKind, { capacity, mode, ...amounts }: NodeLoad): string {
  const text = (amount: number) => loadAmount(kind, amount);
  return [
    ...(capacity === undefined ? [] : [`of ${text(capacity)}${kind === 'cpu' ? ' cores' : ''}`]),
    `requested ${text(amounts.requested)}`,
    `used ${text(amounts.used)}`,
    `p99 ${text(amounts.p99)}`,
    `lendable ${text(amounts.lendable)}`,
    ...(mode === 'Enforce' ? [`lent ${text(amounts.lent)}`] : []),
    ...(amounts.taken > 0 ? [`taken ${text(amounts.taken)}`] : []),
  ].join(', ');
}

/** Bytes as `12.5Gi`, thousandths of a core as `12.5`. */
export function loadAmount(kind: SpareKind, amount: number): string {
  return kind === 'memory' ? readableBytes(amount) : String(Math.round(amount / 100) / 10);
}
