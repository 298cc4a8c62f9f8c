import { beforeAll, describe, expect, test } from 'vitest';
import { QUEUE_POLICY_NAMES } from '#shared/kube/api-names.ts';
import { at } from '#test/contract/harness.ts';
import { asUser, type AsUser } from '#test/cluster/admission/support/as-user.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { startPodCreates } from '#test/cluster/installed/support/pod-creates.ts';
import { runKubectl } from '#test/cluster/installed/support/run-kubectl.ts';
import { eventually } from '#test/build/waiting.ts';
import { gatesOf, LEADER, MANAGED, PATIENCE_MS, podOf, pods, queueScene } from './queue-scene.ts';
import { GANG_ANSWERS, gangAnswers, ofDaemonSet, resized, WARNED_OF } from './tenant-requests.ts';

const GATE = 'plimsoll.dev/queue';
const ADMITTED = { 'plimsoll.dev/admitted': '{"queue":"mine"}' };
const why = whyNoOwnCluster(process.env);
describe.skipIf(why !== undefined)(`a tenant with the role edit, in a managed namespace${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = queueScene(own);
  let tenant: AsUser;

  beforeAll(async () => {
    await scene.install();
    await scene.manage('shop', { team: 'shop' }, MANAGED);
    await scene.queue('mine', { namespaceSelector: { matchLabels: { team: 'shop' } } });
    await scene.queue('theirs', {
      namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'NotIn', values: ['shop'] }] },
    });
    await scene.queue('closed', {});
    tenant = await scene.tenant('shop');
    await scene.tellSelectors();
    // The API server learns of them shortly after they are written.
    await eventually(async () => {
      for (const name of ['theirs', 'closed']) {
        const named = podOf('probe', {}, { labels: { [GATE]: name } });
        expect((await tenant('POST', `${pods('shop')}?dryRun=All`, named)).status).toBe(403);
      }
    }, PATIENCE_MS);
    expect((await tenant('POST', pods('shop'), podOf('waiting', {}, { labels: { [GATE]: 'mine' } }))).status).toBe(201);
  }, 120_000);

  const refused = (text: string) => [403, expect.stringContaining(text) as unknown] as const;

  test.each<[string, object, string]>([
    ['that names its node', podOf('a', { nodeName: 'node-0' }), 'spec.nodeName must not be set'],
    ['with the annotation', podOf('a', {}, { annotations: ADMITTED }), 'must only be written by plimsoll-controller'],
    [
      'with gate and annotation',
      podOf('a', { schedulingGates: [{ name: GATE }] }, { annotations: ADMITTED }),
      'must only be written by plimsoll-controller',
    ],
    [
      'in the queue of another team',
      podOf('a', {}, { labels: { [GATE]: 'theirs' } }),
      'queue theirs does not admit namespace shop',
    ],
    [
      'in a queue that selects no namespace',
      podOf('a', {}, { labels: { [GATE]: 'closed' } }),
      'queue closed does not admit namespace shop',
    ],
    [
      'that looks like a mirror pod and names its node',
      podOf('a', { nodeName: 'node-0' }, { annotations: { 'kubernetes.io/config.mirror': 'x' } }),
      'spec.nodeName must not be set',
    ],
    [
      'that names a DaemonSet as its owner, and its node',
      podOf('a', { nodeName: 'node-0' }, { ownerReferences: [ofDaemonSet()] }),
      'spec.nodeName must not be set',
    ],
  ])('creates no pod %s', async (_, body, text) => {
    const { status, body: answer } = await tenant('POST', pods('shop'), body);
    expect([status, at(answer, 'message')]).toEqual(refused(text));
  });

  test('a Job with gang: auto gives its pods the size, which no pod changes', async () => {
    expect(await gangAnswers(tenant)).toEqual(GANG_ANSWERS);
  });

  test.each<[string, object]>([
    ['without a gate', podOf('b')],
    ['with an empty list of gates', podOf('b', { schedulingGates: [] })],
    ['with another gate alone', podOf('b', { schedulingGates: [{ name: 'example.com/other' }] })],
    ['that names a DaemonSet as its owner', podOf('b', {}, { ownerReferences: [ofDaemonSet()] })],
    ['that names another scheduler', podOf('b', { schedulerName: 'mine' })],
  ])('creates a pod %s, and it waits', async (_, body) => {
    const { status, body: created } = await tenant('POST', `${pods('shop')}?dryRun=All`, body);
    expect([status, gatesOf(created).includes(GATE)]).toEqual([201, true]);
  });

  test.each<[string, object, string]>([
    [
      'takes no gate off by a patch',
      { spec: { schedulingGates: null } },
      'must only be removed by plimsoll-controller',
    ],
    ['leaves no empty list of gates', { spec: { schedulingGates: [] } }, 'must only be removed by plimsoll-controller'],
    ['writes no annotation', { metadata: { annotations: ADMITTED } }, 'must only be written by plimsoll-controller'],
    [
      'takes no gate off together with the annotation',
      { metadata: { annotations: ADMITTED }, spec: { schedulingGates: null } },
      // Two policies refuse it, and the API server names whichever it asked first.
      'by plimsoll-controller',
    ],
    [
      'moves no waiting pod to the queue of another team',
      { metadata: { labels: { [GATE]: 'theirs' } } },
      'queue theirs does not admit namespace shop',
    ],
  ])('%s', async (_, patch, text) => {
    const { status, body } = await tenant('PATCH', pods('shop', 'waiting'), patch);
    expect([status, at(body, 'message')]).toEqual(refused(text));
  });

  test('replaces no pod by one without the gate', async () => {
    const { body } = await tenant('GET', pods('shop', 'waiting'));
    const spec = { ...(at(body, 'spec') as object), schedulingGates: undefined };
    const { status, body: answer } = await tenant('PUT', pods('shop', 'waiting'), { ...(body as object), spec });
    expect([status, at(answer, 'message')]).toEqual(refused('must only be removed by plimsoll-controller'));
  });

  test.each<[string, string, 'POST' | 'PATCH', string, object]>([
    ['binds no pod', 'pods/binding', 'POST', '/binding', { target: { kind: 'Node', name: 'node-0' } }],
    ['writes no status', 'pods/status', 'PATCH', '/status', { status: { nominatedNodeName: 'node-0' } }],
  ])('%s: the role has no %s', async (_, _resource, method, subresource, body) => {
    const answer = await tenant(method, `${pods('shop', 'waiting')}${subresource}`, {
      metadata: { name: 'waiting' },
      ...body,
    });
    expect(answer.status).toBe(403);
  });

  test('changes neither its namespace nor a queue', async () => {
    const label = { metadata: { labels: { 'plimsoll.dev/managed': null } } };
    expect((await tenant('PATCH', '/api/v1/namespaces/shop', label)).status).toBe(403);
    const open = { spec: { namespaceSelector: {} } };
    expect((await tenant('PATCH', '/apis/plimsoll.dev/v1alpha1/queues/theirs', open)).status).toBe(403);
  });

  test('impersonates no account that may let pods in', async () => {
    const token = '/api/v1/namespaces/plimsoll-system/serviceaccounts/plimsoll-controller/token';
    const { status } = await tenant('POST', token, { spec: {} });
    expect(status).toBe(403);
  });

  test.each(WARNED_OF)(
    'is warned of what behaves differently while pods wait: %s',
    async (_, resource, body, warning) => {
      const [group = '', version = '', plural = ''] = resource.split('/');
      const path = `/apis/${group}/${version}/namespaces/shop/${plural}?dryRun=All`;
      const { status, headers } = await tenant('POST', path, { metadata: { name: 'object' }, ...body });
      const shown = headers['warning'] ?? '';
      expect(status).toBe(201);
      if (warning === undefined) expect(shown).not.toContain('queue');
      else expect(shown).toContain(warning);
    },
  );

  describe('what others may', () => {
    test('the leader sets nodes aside and evicts only for queues, and changes nothing else of a status', async () => {
      const leader = scene.user(LEADER);
      const status = `${pods('shop', 'waiting')}/status`;
      const others: readonly object[] = [
        { status: { phase: 'Failed' } },
        { metadata: { labels: { team: 'x' } }, status: { nominatedNodeName: 'node-0' } },
      ];
      for (const other of others) {
        const { status: code, body } = await leader('PATCH', status, other);
        expect([code, at(body, 'message')]).toEqual(refused('the leader of the queues may'));
      }
      const setAside = { status: { nominatedNodeName: 'node-0' } };
      expect((await leader('PATCH', status, setAside)).status).toBe(200);
      expect((await leader('PATCH', status, { status: { nominatedNodeName: null } })).status).toBe(200);
      await scene.create(pods('default'), podOf('elsewhere'));
      const outside = await leader('PATCH', `${pods('default', 'elsewhere')}/status`, setAside);
      expect([outside.status, at(outside.body, 'message')]).toEqual(refused('only for pods that wait in queues'));
      expect((await scene.evicts('default', 'elsewhere', 'queues')).status).toBe(403);
    });

    test('the account evicts for a part only while it has the rights of that part', async () => {
      await scene.takeRights('rescheduling');
      await eventually(async () => expect((await scene.evicts('shop', 'waiting')).status).toBe(403));
      expect((await scene.evicts('shop', 'waiting', 'queues')).status).toBe(201);
    });

    test('the leader lets a pod in, and may change nothing else of it', async () => {
      expect(
        (await tenant('POST', pods('shop'), podOf('let-in', { schedulingGates: [{ name: 'example.com/other' }] })))
          .status,
      ).toBe(201);
      const leader = scene.user(LEADER);
      const others: readonly object[] = [
        { metadata: { labels: { team: 'x' } } },
        { metadata: { annotations: { other: 'x' } } },
        { spec: { nodeSelector: { a: 'b' } } },
        { spec: { schedulingGates: [{ name: GATE }] } },
      ];
      for (const other of others) {
        const { status, body } = await leader('PATCH', pods('shop', 'let-in'), other);
        expect([status, at(body, 'message')]).toEqual(refused('the leader of the queues may'));
      }
      const { status, body } = await leader('PATCH', pods('shop', 'let-in'), {
        metadata: { annotations: ADMITTED },
        spec: { schedulingGates: [{ name: 'example.com/other' }] },
      });
      expect([status, gatesOf(body), at(body, 'metadata.annotations')]).toEqual([200, ['example.com/other'], ADMITTED]);
    });

    test('no tenant takes the annotation of a pod that was let in away, or changes it', async () => {
      for (const value of [null, '{"queue":"theirs"}']) {
        const patch = { metadata: { annotations: { 'plimsoll.dev/admitted': value } } };
        const { status, body } = await tenant('PATCH', pods('shop', 'let-in'), patch);
        expect([status, at(body, 'message')]).toEqual(refused('must only be written by plimsoll-controller'));
      }
    });

    test('nobody resizes a pod past the maximum of its queue, as its status tells it', async () => {
      const admin = scene.user();
      const queue = '/apis/plimsoll.dev/v1alpha1/queues/mine';
      expect((await admin('PATCH', queue, { spec: { max: { cpu: '2' } } })).status).toBe(200);
      expect((await admin('PATCH', `${queue}/status`, { status: { used: { cpu: '1' } } })).status).toBe(200);
      const to = (cpu: string) => resized(admin, pods('shop', 'let-in'), cpu);
      const tooMuch = refused('queue mine: cpu is limited to 2; used 1, and the resize');
      // The API server learns of the queue shortly after it is written.
      await eventually(async () => expect(await to('3')).toEqual(tooMuch), PATIENCE_MS);
      expect(await to('2')).toEqual([200, undefined]);
    });

    test('pods that the DaemonSet controller creates wait, and those of other namespaces do not', async () => {
      const controller = scene.user('system:serviceaccount:kube-system:daemon-set-controller');
      const own = await controller('POST', `${pods('shop')}?dryRun=All`, podOf('daemon'));
      expect([own.status, gatesOf(own.body)]).toEqual([201, [GATE]]);
      const other = await scene.user()('POST', `${pods('default')}?dryRun=All`, podOf('plain'));
      expect([other.status, gatesOf(other.body)]).toEqual([201, []]);
    });

    test('nobody else writes the annotation, through any door, and in no namespace', async () => {
      const admin = scene.user();
      const forged = { metadata: { annotations: ADMITTED } };
      await scene.create(pods('default'), podOf('early', { nodeName: 'node-0' }));
      const target = { ...forged, target: { kind: 'Node', name: 'node-0' } };
      const named = { ...target, apiVersion: 'v1', kind: 'Binding', metadata: { ...forged.metadata, name: 'waiting' } };
      const doors = [
        ['POST', `${pods('default')}?dryRun=All`, podOf('new', {}, { annotations: ADMITTED })],
        ['PATCH', pods('default', 'early'), forged],
        ['PATCH', `${pods('default', 'early')}/status`, forged],
        ['PATCH', `${pods('default', 'early')}/status?fieldManager=plimsoll-scheduler`, forged],
        ['PATCH', `${pods('shop', 'waiting')}/status`, forged],
        ['POST', `${pods('shop', 'waiting')}/binding?dryRun=All`, named],
      ] as const;
      for (const [method, path, body] of doors) {
        const { status, body: answer } = await admin(method, path, body);
        expect([path, status, at(answer, 'message')]).toEqual([path, ...refused('must only be written by')]);
      }
      const node = { groups: ['system:nodes', 'system:masters'] };
      const byNode = await asUser(own().connection, 'system:node:node-0', node)(
        'PATCH',
        `${pods('default', 'early')}/status`,
        forged,
      );
      expect([byNode.status, at(byNode.body, 'message')]).toEqual(refused('must only be written by'));
    });

    test('an administrator takes a gate off', async () => {
      const { status, body } = await scene.user()('PATCH', pods('shop', 'waiting'), {
        spec: { schedulingGates: null },
      });
      expect([status, gatesOf(body)]).toEqual([200, []]);
    });
  });

  test.each(['mark', 'label', 'gang', 'root', 'warnings'] as const)(
    '%s has no expression of a wrong type',
    async (name) => {
      const path = `/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies/${QUEUE_POLICY_NAMES[name]}`;
      const checked = await eventually(async () => {
        const { body } = await scene.user()('GET', path);
        expect(at(body, 'status.observedGeneration')).toBe(at(body, 'metadata.generation'));
        return at(body, 'status.typeChecking');
      }, PATIENCE_MS);
      expect(checked ?? {}).toEqual({});
    },
  );

  test('once the gate is removed, none of its pods is refused, although the guards are still there', async () => {
    const creates = startPodCreates(own().connection, { namespace: 'shop' });
    const gate = (verb: string) =>
      runKubectl(own().cluster.kubeconfig, [verb, '-f', 'deploy/components/queues/gate-policy.yaml']);
    const isGated = async () => {
      const { body } = await scene.user()('POST', `${pods('shop')}?dryRun=All`, podOf('b'));
      return gatesOf(body).includes(GATE);
    };
    await gate('delete');
    await eventually(async () => expect(await isGated()).toBe(false), PATIENCE_MS);
    await creates.expectNoneRefused();
    await gate('create');
    await eventually(async () => expect(await isGated()).toBe(true), PATIENCE_MS);
    await creates.stop();
  });
});
