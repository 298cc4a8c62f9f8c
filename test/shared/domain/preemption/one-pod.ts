import type { PodFields } from '#test/build/cluster.ts';

/** A pod on node n0 that asks for one CPU. */
export const one = (name: string, fields: Partial<PodFields> = {}): PodFields => ({
  name,
  node: 'n0',
  priority: 0,
  requests: { cpu: '1' },
  ...fields,
});
