import { describe, expect, test } from 'vitest';
import type { TopologySpreadConstraint } from '#shared/domain/pod/pod.ts';
import { buildSpread, mapOf, selectorOf, type PodFields } from '#test/build/cluster.ts';
import { ZONE, refusal, refused } from './refusal-on-node.ts';

describe('PodTopologySpread', () => {
  const nodes = [
    { name: 'n0', labels: { [ZONE]: 'x' } },
    { name: 'n1', labels: { [ZONE]: 'y' } },
  ];
  const constraint = (fields?: Partial<TopologySpreadConstraint>) => buildSpread(ZONE, fields);
  const member = (name: string, fields: Partial<PodFields> = {}): PodFields => ({
    name,
    node: 'n0',
    labels: { app: 'a', tier: 'db' },
    ...fields,
  });
  const incoming = (fields: Partial<TopologySpreadConstraint>): Partial<PodFields> => ({
    labels: { app: 'a', tier: 'web' },
    scheduling: { topologySpread: [constraint(fields)] },
  });
  const skewed = refused('PodTopologySpread', true, "node(s) didn't match pod topology spread constraints");

  test.each<[string, Partial<TopologySpreadConstraint>, readonly PodFields[], boolean]>([
    ['even so far', {}, [member('p'), member('q', { node: 'n1' })], true],
    ['one more than elsewhere', {}, [member('p')], false],
    ['a larger skew is allowed', { maxSkew: 2 }, [member('p')], true],
    ['a soft constraint refuses no pod', { whenUnsatisfiable: 'ScheduleAnyway' }, [member('p')], true],
    ['terminating pods do not count', {}, [member('p', { deletion: { at: 0, gracePeriodSeconds: 0 } })], true],
    ['pods of other namespaces do not count', {}, [member('p', { namespace: 'prod' })], true],
    ['fewer domains than wanted: the least is 0', { minDomains: 3 }, [member('p'), member('q', { node: 'n1' })], false],
    ['own values of the match label keys must be equal', { matchLabelKeys: ['tier'] }, [member('p')], true],
    ['an absent selector matches no pod', { labelSelector: undefined }, [member('p')], true],
    ['an empty selector counts no pod but the incoming one', { labelSelector: selectorOf({}) }, [member('p')], true],
  ])('%s', (_, fields, pods, fits) => {
    expect(refusal(incoming(fields), { nodes, pods })).toEqual(fits ? undefined : skewed);
  });

  test('a node without the label cannot be helped', () => {
    const reason = "node(s) didn't match pod topology spread constraints (missing required label)";
    expect(refusal(incoming({}))).toEqual(refused('PodTopologySpread', false, reason));
  });

  test('nodes that the pod cannot use are counted only where the policies say so', () => {
    const other = {
      name: 'n1',
      labels: { [ZONE]: 'y', disk: 'hdd' },
      taints: [{ key: 'k', value: '', effect: 'NoSchedule' }],
    };
    const situation = { nodes: [{ name: 'n0', labels: { [ZONE]: 'x', disk: 'ssd' } }, other], pods: [member('p')] };
    const spread = (fields: Partial<TopologySpreadConstraint>): Partial<PodFields> => ({
      ...incoming(fields),
      scheduling: { topologySpread: [constraint(fields)], nodeSelector: mapOf({ disk: 'ssd' }) },
    });
    expect(refusal(spread({}), situation)).toBeUndefined();
    expect(refusal(spread({ nodeAffinityPolicy: 'Ignore' }), situation)).toEqual(skewed);
    expect(refusal(spread({ nodeAffinityPolicy: 'Ignore', nodeTaintsPolicy: 'Honor' }), situation)).toBeUndefined();
  });
});
