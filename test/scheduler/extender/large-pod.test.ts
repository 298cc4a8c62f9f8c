import { describe, expect, test } from 'vitest';
import { withoutLargePod } from '#scheduler/extender/large-pod.ts';

const LARGE = 'x'.repeat(300_000);
const names = { name: 'p', generateName: 'g-', namespace: 'team', uid: 'u' };
/** The victims, as kube-scheduler writes them where it sends UIDs alone. */
const victims = {
  NodeNameToVictims: null,
  NodeNameToMetaVictims: { n0: { Pods: [{ UID: 'v' }], NumPDBViolations: 0 } },
};

function read(Pod: object, others: object = victims): unknown {
  const bytes = withoutLargePod(Buffer.from(JSON.stringify({ Pod, ...others })));
  return bytes && (JSON.parse(bytes.toString('utf8')) as unknown);
}

/** What is left of every large pod with these names and this priority. */
const left = { Pod: { metadata: { name: 'p', namespace: 'team', uid: 'u' }, spec: { priority: -5 } }, ...victims };
const pod = (annotations: object, spec: object = {}) => ({
  metadata: { ...names, annotations },
  spec: { containers: [{ name: 'c', args: [LARGE] }], ...spec, priority: -5 },
});

describe('withoutLargePod', () => {
  test.each<[string, object]>([
    ['names and priority', pod({})],
    [
      'nothing that a text of the pod pretends',
      pod({ note: ',"NodeNameToVictims":null,"priority":9', priority: '9', NodeNameToVictims: 'null' }),
    ],
    ['no label of that name', pod({}, { nodeSelector: { priority: '9', NodeNameToVictims: '{' } })],
  ])('keeps %s', (_, given) => {
    expect(read(given)).toEqual(left);
  });

  test('a pod without a priority has none', () => {
    expect(read({ metadata: names, spec: { args: LARGE } })).toMatchObject({ Pod: { spec: {} } });
  });

  test.each<[string, object, object]>([
    ['an ordinary pod', { metadata: names, spec: { priority: 1 } }, victims],
    ['an ordinary pod with very many victims', { metadata: names }, { ...victims, NodeNameToVictims: { n: LARGE } }],
    ['a request of another form', pod({}), { Victims: null }],
  ])('leaves %s as it is', (_, given, others) => {
    expect(read(given, others)).toBeUndefined();
  });
});
