import type { Amounts } from '#shared/domain/model/amounts.ts';
import { quantityNumber, ZERO } from '#shared/domain/model/quantity.ts';

type ByNamespace = ReadonlyMap<string, Amounts>;

/** More would make every write of the ledger object larger and tell nobody anything. */
const MOST_NAMESPACES = 100;

/** The namespaces that use most, each by the limited resource of which it uses the largest share; at most a hundred. */
export function largestNamespaces(byNamespace: ByNamespace, hard: Amounts): ByNamespace {
  if (byNamespace.size <= MOST_NAMESPACES) return byNamespace;
  const ranked = Array.from(byNamespace, ([namespace, used]) => ({ namespace, used, share: largestShare(used, hard) }));
  ranked.sort((a, b) => b.share - a.share || (a.namespace < b.namespace ? -1 : 1));
  return new Map(ranked.slice(0, MOST_NAMESPACES).map(({ namespace, used }) => [namespace, used]));
}

/** For ordering alone, so a double will do; of a limit of zero everything is the largest share. */
function largestShare(used: Amounts, hard: Amounts): number {
  const shares = Array.from(used, ([name, amount]) => quantityNumber(amount) / quantityNumber(hard.get(name) ?? ZERO));
  return Math.max(0, ...shares.map((share) => (Number.isNaN(share) ? 0 : share)));
}
