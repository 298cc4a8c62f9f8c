import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serviceAccountUser } from '#shared/domain/priority/classes-and-policies.ts';
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
import { eventually } from '#test/build/waiting.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const CEILING = 100;
const PERSON = 'carol';
/** The account that the pods run as. */
const ACCOUNT = 'worker';

/**
 * The entry for templates knows Kubernetes' own kinds. What makes pods from a kind of its own is seen by its pods: there
 * the rules of namespace and account hold, and those for the person who wrote the object do not. Registers tests in the
 * present `describe`, for any API server with our kinds and the webhook registered and ready.
 */
export function customKind(target: () => ContractTarget): void {
  const people = contractHarness(target);
  const everybody = contractHarness(target);
  const objects = clusterObjects(people);
  const group = `${uniqueName('g')}.example.com`;
  const names = { gold: '' };
  const operator = (): string => serviceAccountUser({ namespace: people.namespace, name: 'operator' });

  beforeAll(async () => {
    await Promise.all([objects.administrator(PERSON), objects.administrator(operator())]);
    names.gold = await objects.priorityClass('gold', 1_000);
    await people.post(people.core('serviceaccounts'), { metadata: { name: ACCOUNT } });
    const account = { kind: 'ServiceAccount', name: ACCOUNT, namespace: people.namespace };
    const ceiling = { namespaceSelector: onlyIn(people), maxPriority: CEILING };
    await objects.policy('person', { ...ceiling, subjects: [{ kind: 'User', name: PERSON }] });
    await objects.policy('account', { ...ceiling, subjects: [account] });
    await objects.policy('namespace', { namespaceSelector: onlyIn(everybody), maxPriority: CEILING });
    expect((await people.post(DEFINITIONS, definition(group))).status).toBe(201);
    await eventually(async () => {
      const bare = pod('bare', { priorityClassName: names.gold });
      const query = { dryRun: 'All' };
      expect((await everybody.post(everybody.core('pods'), bare, { query })).status).toBe(403);
      expect(
        (await asUser(target().connection, PERSON)('POST', `${people.core('pods')}?dryRun=All`, bare)).status,
      ).toBe(403);
      expect((await people.get(pathIn(people))).status).toBe(200);
    });
  });
  afterAll(() => people.remove(`${DEFINITIONS}/crates.${group}`));

  function pathIn({ namespace }: Harness): string {
    return `/apis/${group}/v1/namespaces/${namespace}/crates`;
  }

  /** The user writes the object, and the operator creates its pod. */
  async function made(place: Harness, podSpec: object = {}): Promise<AnswerOfUser> {
    const kind = { apiVersion: `${group}/v1`, kind: 'Crate' };
    const name = uniqueName('crate');
    const podTemplate = pod('any', { priorityClassName: names.gold, ...podSpec });
    const crate = { ...kind, metadata: { name }, spec: { template: { spec: at(podTemplate, 'spec') } } };
    const written = await asUser(target().connection, PERSON)('POST', pathIn(place), crate);
    expect([written.status, at(written.body, 'message'), written.headers['warning']]).toEqual([
      201,
      undefined,
      undefined,
    ]);
    const owner = { ...kind, name, uid: textAt(written.body, 'metadata.uid'), controller: true };
    const metadata = { name: `${name}-0`, ownerReferences: [owner] };
    const spec = at(written.body, 'spec.template.spec');
    return asUser(target().connection, operator())('POST', place.core('pods'), { metadata, spec });
  }

  const refused = (): readonly unknown[] => [
    403,
    expect.stringContaining(`allows a priority of at most ${CEILING} here; priority class \`${names.gold}\` has 1000`),
  ];

  describe('wrapped in a custom kind', () => {
    test('its pods are refused by the rules of their namespace', async () => {
      const { status, body } = await made(everybody);
      expect([status, at(body, 'message')]).toEqual(refused());
    });

    test('and by those of the account that they run as', async () => {
      const { status, body } = await made(people, { serviceAccountName: ACCOUNT });
      expect([status, at(body, 'message')]).toEqual(refused());
    });

    test('a rule for the user alone does not apply to them', async () => {
      const { status, body } = await made(people);
      expect([status, at(body, 'spec.priority')]).toEqual([201, 1_000]);
    });
  });
}

/** Anything may be in its spec. */
function definition(group: string): object {
  const schema = {
    type: 'object',
    properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  };
  const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `crates.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'crates', singular: 'crate', kind: 'Crate', listKind: 'CrateList' },
      versions: [version],
    },
  };
}
