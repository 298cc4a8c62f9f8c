import { describe, expect, test } from 'vitest';
import { buildTerm, selectorOf, type PodFields } from '#test/build/cluster.ts';
import { ZONE, HOST, refusal, refused } from './refusal-on-node.ts';

describe('InterPodAffinity', () => {
  const nodes = [
    { name: 'n0', labels: { [ZONE]: 'x' } },
    { name: 'n1', labels: { [ZONE]: 'x' } },
    { name: 'n2', labels: { [ZONE]: 'y' } },
  ];
  const near = (node: string, fields: Partial<PodFields> = {}) => [
    { name: 'p', node, labels: { app: 'a' }, ...fields },
  ];
  const lonely = refused('InterPodAffinity', false, "node(s) didn't match pod affinity rules");
  const avoiding = refused('InterPodAffinity', true, "node(s) didn't match pod anti-affinity rules");
  const avoided = refused('InterPodAffinity', true, "node(s) didn't satisfy existing pods anti-affinity rules");
  const teams = { prod: { team: 'x' }, default: { team: 'y' } };

  test.each<[string, Partial<PodFields>, readonly PodFields[], object | undefined]>([
    [
      'wanted company in the zone',
      { scheduling: { podAffinity: [buildTerm({ app: 'a' }, ZONE)] } },
      near('n1'),
      undefined,
    ],
    ['wanted company elsewhere', { scheduling: { podAffinity: [buildTerm({ app: 'a' }, ZONE)] } }, near('n2'), lonely],
    [
      'every term must be met by the same pods',
      { scheduling: { podAffinity: [buildTerm({ app: 'a' }, ZONE), buildTerm({ app: 'b' }, ZONE)] } },
      near('n1'),
      lonely,
    ],
    [
      'the first of a group that wants itself',
      { labels: { app: 'a' }, scheduling: { podAffinity: [buildTerm({ app: 'a' }, ZONE)] } },
      [],
      undefined,
    ],
    [
      'a node without the label',
      { labels: { app: 'a' }, scheduling: { podAffinity: [buildTerm({ app: 'a' }, 'rack')] } },
      [],
      lonely,
    ],
    [
      'unwanted company on the node',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, HOST)] } },
      near('n0'),
      avoiding,
    ],
    [
      'unwanted company in the zone',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, ZONE)] } },
      near('n1'),
      avoiding,
    ],
    [
      'unwanted company in another zone',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, ZONE)] } },
      near('n2'),
      undefined,
    ],
    [
      'anti-affinity over a label that the node lacks',
      { scheduling: { podAntiAffinity: [buildTerm({ app: 'a' }, 'rack')] } },
      near('n0'),
      undefined,
    ],
    [
      'a pod there has anti-affinity',
      { labels: { app: 'z' } },
      near('n1', { scheduling: { podAntiAffinity: [buildTerm({ app: 'z' }, ZONE)] } }),
      avoided,
    ],
    [
      'a pod elsewhere has anti-affinity',
      { labels: { app: 'z' } },
      near('n2', { scheduling: { podAntiAffinity: [buildTerm({ app: 'z' }, ZONE)] } }),
      undefined,
    ],
    [
      'a pod on an unknown node has anti-affinity',
      { labels: { app: 'z' } },
      near('n9', { scheduling: { podAntiAffinity: [buildTerm({ app: 'z' }, ZONE)] } }),
      undefined,
    ],
  ])('%s', (_, pod, pods, expected) => {
    expect(refusal(pod, { nodes, pods })).toEqual(expected);
  });

  test.each<[string, Partial<ReturnType<typeof buildTerm>>, boolean]>([
    ['its own namespace by default', {}, false],
    ['namespaces by name', { namespaces: ['prod'] }, true],
    ['namespaces by label', { namespaceSelector: selectorOf({ team: 'x' }) }, true],
    ['other namespaces by label', { namespaceSelector: selectorOf({ team: 'y' }) }, false],
    ['every namespace', { namespaceSelector: selectorOf({}) }, true],
  ])('a term means %s', (_, fields, reachesProd) => {
    const term = { ...buildTerm({ app: 'a' }, HOST), ...fields };
    const there = near('n0', { namespace: 'prod' });
    const own = refusal({ scheduling: { podAntiAffinity: [term] } }, { nodes, pods: there, namespaces: teams });
    expect(own).toEqual(reachesProd ? avoiding : undefined);
    const others = near('n0', { scheduling: { podAntiAffinity: [term] } });
    const theirs = refusal({ namespace: 'prod', labels: { app: 'a' } }, { nodes, pods: others, namespaces: teams });
    expect(theirs).toEqual(reachesProd ? avoided : undefined);
  });

  test('a namespace that is not known has no labels', () => {
    const term = { ...buildTerm({ app: 'a' }, HOST), namespaceSelector: selectorOf({ team: 'x' }) };
    const others = near('n0', { scheduling: { podAntiAffinity: [term] } });
    expect(refusal({ namespace: 'prod', labels: { app: 'a' } }, { nodes, pods: others })).toBeUndefined();
  });
});
