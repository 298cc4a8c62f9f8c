import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { asUser, type AnswerOfUser } from '#test/cluster/admission/support/as-user.ts';
import { clusterObjects, onlyIn } from '#test/cluster/admission/support/cluster-objects.ts';
import {
  at,
  contractHarness,
  pod,
  textAt,
  uniqueName,
  type ContractTarget,
  type Harness,
} from '#test/contract/harness.ts';
import { WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';
import { collectionPath, workloadKind, WORKLOAD_KINDS } from '#test/webhook/support/workloads.ts';
import { eventually } from '#test/build/waiting.ts';

const CONFIGURATION = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/plimsoll';
const BINDINGS = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings';
const TEMPLATE_BINDING = `${BINDINGS}/${WEBHOOK_ENTRIES.templates}`;
const CEILING = 100;
const RESTRICTED = 'alice';
const TRUSTED = 'bob';
const ACCOUNT = 'builder';
const PATIENCE_MS = 60_000;

/** A user wraps a pod in a workload that creates pods. */
interface Wrapping {
  readonly user: string;
  readonly kind: string;
  readonly podSpec: object;
  /** The namespace where persons and accounts are restricted, unless said otherwise. */
  readonly place?: Harness;
  readonly isDryRun?: boolean;
}

/**
 * A user who may not use a class cannot get it by wrapping the pod in a workload. Registers tests in the present
 * `describe`, for any API server with our kinds, its controllers, and the webhook registered and ready, until `once`
 * the policies are in force.
 */
export function noWayRound(target: () => ContractTarget, once = (): Promise<void> => Promise.resolve()): void {
  const people = contractHarness(target);
  const everybody = contractHarness(target);
  const objects = clusterObjects(people);
  const names = { gold: '', plain: '' };

  beforeAll(async () => {
    await Promise.all([objects.administrator(RESTRICTED), objects.administrator(TRUSTED)]);
    names.gold = await objects.priorityClass('gold', 1_000);
    names.plain = await objects.priorityClass('plain', 10);
    await people.post(people.core('serviceaccounts'), { metadata: { name: ACCOUNT } });
    const ceiling = { namespaceSelector: onlyIn(people), maxPriority: CEILING };
    const account = { kind: 'ServiceAccount', name: ACCOUNT, namespace: people.namespace };
    await objects.policy('person', { ...ceiling, subjects: [{ kind: 'User', name: RESTRICTED }] });
    await objects.policy('account', { ...ceiling, subjects: [account] });
    await objects.policy('namespace', { ...ceiling, namespaceSelector: onlyIn(everybody) });
    await eventually(async () => {
      expectRefused(await createPod(RESTRICTED), names.gold);
      expectRefused(await createPod(TRUSTED, { serviceAccountName: ACCOUNT }), names.gold);
      expectRefused(await createPod(TRUSTED, {}, everybody), names.gold);
    }, PATIENCE_MS);
    await once();
  });

  function createPod(user: string, spec: object = {}, place: Harness = people): Promise<AnswerOfUser> {
    const wanted = pod(uniqueName('bare'), { priorityClassName: names.gold, ...spec });
    return asUser(target().connection, user)('POST', `${place.core('pods')}?dryRun=All`, wanted);
  }

  function wrap({ user, kind, podSpec, place = people, isDryRun = false }: Wrapping): Promise<AnswerOfUser> {
    const { build, ...workload } = workloadKind(kind);
    const path = `${collectionPath(workload, place.namespace)}${isDryRun ? '?dryRun=All' : ''}`;
    return asUser(target().connection, user)('POST', path, build(uniqueName('wrapped'), podSpec));
  }

  test('the class itself is refused to one user and allowed to the other', async () => {
    expectRefused(await createPod(RESTRICTED), names.gold);
    const given = await createPod(TRUSTED);
    expect([given.status, at(given.body, 'spec.priority')]).toEqual([201, 1_000]);
  });

  describe.each(WORKLOAD_KINDS.map(({ kind }) => kind))('wrapped in a %s', (kind) => {
    test('is refused when it is written, by the person', async () => {
      const answer = await wrap({ user: RESTRICTED, kind, podSpec: podOf(names.gold), isDryRun: true });
      expectRefused(answer, names.gold);
    });

    test('is allowed for users whom no policy names, and every user may wrap another class', async () => {
      expectMade(await wrap({ user: TRUSTED, kind, podSpec: podOf(names.gold), isDryRun: true }));
      expectMade(await wrap({ user: RESTRICTED, kind, podSpec: podOf(names.plain), isDryRun: true }));
    });
  });

  test("changing another user's workload is refused like writing it", async () => {
    const kind = workloadKind('Deployment');
    const name = expectMade(await wrap({ user: TRUSTED, kind: kind.kind, podSpec: podOf(names.plain) }));
    const path = `${collectionPath(kind, people.namespace)}/${name}`;
    const answer = await asUser(target().connection, RESTRICTED)('PUT', path, kind.build(name, podOf(names.gold)));
    expectRefused(answer, names.gold);
    await people.remove(path);
  });

  describe('without the entry for templates', () => {
    withoutTemplates(people);

    const cases = ['Deployment', 'ReplicaSet', 'Job'].flatMap((kind) => [
      { kind, by: 'the account that they run as', place: people, more: { serviceAccountName: ACCOUNT } },
      { kind, by: 'their namespace', place: everybody, more: {} },
    ]);
    test.each(cases)('the pods of a $kind are refused for $by', async ({ kind, place, more }) => {
      // The API server takes up to a second to drop a binding.
      const name = await eventually(async () => {
        return expectMade(await wrap({ user: RESTRICTED, kind, place, podSpec: podOf(names.gold, more) }));
      });
      await eventually(async () => {
        expect(await failuresAbout(place, name)).toContainEqual(saysRefused(names.gold));
      }, PATIENCE_MS);
      expect(await podsOf(place, name)).toEqual([]);
    });
  });
}

/** Takes the entry for templates out of the registration, and its like out of the API server, for the present `describe`. */
function withoutTemplates(api: Harness): void {
  const before: { entries?: unknown; binding?: object } = {};
  const replace = async (webhooks: unknown): Promise<void> => {
    expect((await api.patch(CONFIGURATION, { webhooks }, 'merge')).status).toBe(200);
  };
  beforeAll(async () => {
    const entries = at((await api.get(CONFIGURATION)).body, 'webhooks') as readonly { readonly name: string }[];
    before.entries = entries;
    await replace(entries.filter(({ name }) => name !== WEBHOOK_ENTRIES.templates));
    const { body } = await api.get(TEMPLATE_BINDING);
    before.binding = { metadata: { name: WEBHOOK_ENTRIES.templates }, spec: at(body, 'spec') };
    expect((await api.remove(TEMPLATE_BINDING)).status).toBe(200);
  });
  afterAll(async () => {
    await replace(before.entries);
    expect((await api.post(BINDINGS, before.binding)).status).toBe(201);
  });
}

function podOf(priorityClassName: string, more: object = {}): object {
  return { ...(at(pod('any'), 'spec') as object), priorityClassName, ...more };
}

/** The Events of the controllers about a workload or the objects they created for it. */
async function failuresAbout(api: Harness, name: string): Promise<readonly string[]> {
  const { body } = await api.get(`/apis/events.k8s.io/v1/namespaces/${api.namespace}/events`);
  const events = at(body, 'items') as readonly object[];
  return events
    .filter((event) => at(event, 'reason') === 'FailedCreate' && textAt(event, 'regarding.name').startsWith(name))
    .map((event) => textAt(event, 'note'));
}

async function podsOf(api: Harness, name: string): Promise<readonly string[]> {
  const { body } = await api.get(api.core('pods'));
  const names = (at(body, 'items') as readonly object[]).map((each) => textAt(each, 'metadata.name'));
  return names.filter((each) => each.startsWith(name));
}

/** The name of the created object. */
function expectMade({ status, body }: AnswerOfUser): string {
  expect([status, at(body, 'message')]).toEqual([201, undefined]);
  return textAt(body, 'metadata.name');
}

function expectRefused({ status, body }: AnswerOfUser, className: string): void {
  expect([status, at(body, 'message')]).toEqual([403, saysRefused(className)]);
}

function saysRefused(className: string): string {
  const sentence = `allows a priority of at most ${CEILING} here; priority class \`${className}\` has 1000`;
  return expect.stringContaining(sentence) as string;
}
