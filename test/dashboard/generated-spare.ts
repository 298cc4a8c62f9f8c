const GIB = 2 ** 30;

/** `status.spare` of every third node, which has 16Gi and 8 cores; the same number gives the same one. */
export function generatedSpare(index: number, now: number): object {
  if (index % 3 !== 0) return {};
  const used = (1 + index / 3) * GIB;
  const because = { code: 'NoThreshold', text: 'no threshold evicts pods: nothing is lent', facts: {} };
  const rest = { median: GIB, highest: 7 * GIB, because };
  const lends = index % 6 === 0;
  const memory = { requested: 10 * GIB, used, p99: 6 * GIB, lendable: 4 * GIB, lent: lends ? 4 * GIB : 0, ...rest };
  const cpu = { requested: 3_000, used: 500, p99: 800, lendable: 0, lent: 0, taken: 0, because };
  const spare = {
    mode: lends ? 'Enforce' : 'DryRun',
    since: new Date(now - 7_200_000).toISOString(),
    memory: { ...memory, taken: lends ? GIB : 0 },
    cpu,
  };
  return { spare };
}
