import { beforeAll, expect, test } from 'vitest';
import { at, contractHarness, type ContractTarget, refusal, textAt, uniqueName } from './harness.ts';
import { eventually } from '#test/build/waiting.ts';

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** Definitions with a structural schema, and the objects they define. */
export function customResourceContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const group = `${uniqueName('g')}.plimsoll.dev`;
  const boats = `/apis/${group}/v1/boats`;
  const boat = (name: string, spec: object): object => ({
    apiVersion: `${group}/v1`,
    kind: 'Boat',
    metadata: { name },
    spec,
  });

  beforeAll(async () => {
    expect((await api.post(DEFINITIONS, definition(group))).status).toBe(201);
    await eventually(async () => {
      const { body } = await api.get(`${DEFINITIONS}/boats.${group}`);
      expect(at(body, 'status.conditions')).toContainEqual(
        expect.objectContaining({ type: 'Established', status: 'True' }),
      );
      expect((await api.get(boats)).status).toBe(200);
    });
  });

  test('is discovered with short names, categories and status', async () => {
    await eventually(async () => {
      const { body } = await api.get(`/apis/${group}/v1`);
      expect(at(body, 'resources')).toEqual([
        expect.objectContaining({ name: 'boats', kind: 'Boat', namespaced: false, shortNames: ['bt'] }),
        expect.objectContaining({ name: 'boats/status', kind: 'Boat', verbs: ['get', 'patch', 'update'] }),
      ]);
    });
  });

  test('fills defaults and prunes what the schema does not know', async () => {
    const { status, body } = await api.post(boats, boat('filled', { length: 7, nonsense: 1 }));
    expect(status).toBe(201);
    expect(at(body, 'spec')).toEqual({ length: 7, colour: 'white' });
    expect(at(body, 'metadata.generation')).toBe(1);
  });

  test.each<[string, object, string]>([
    [
      'a wrong type',
      { length: 'long' },
      'spec.length: Invalid value: "string": spec.length in body must be of type integer: "string"',
    ],
    ['a missing field', { colour: 'red' }, 'spec.length: Required value'],
    [
      'too small a number',
      { length: 0 },
      'spec.length: Invalid value: 0: spec.length in body should be greater than or equal to 1',
    ],
    [
      'a value not listed',
      { length: 1, colour: 'pink' },
      'spec.colour: Unsupported value: "pink": supported values: "white", "red"',
    ],
    ['a broken rule', { length: 1, colour: 'red' }, 'spec: Invalid value: must be longer than 2 when red'],
  ])('refuses %s and says where', async (_, spec, message) => {
    const { status, body } = await api.post(boats, boat('bad', spec));
    expect(status).toBe(422);
    expect(body).toMatchObject(refusal(422, 'Invalid', expect.stringContaining(`Boat.${group} "bad" is invalid: `)));
    expect(withoutTypeNames(at(body, 'message'))).toContain(message);
  });

  test('status is a world of its own', async () => {
    await api.post(boats, { ...boat('afloat', { length: 3 }), status: { draught: 1 } });
    expect(at((await api.get(`${boats}/afloat`)).body, 'status')).toBeUndefined();
    const patched = await api.patch(`${boats}/afloat/status`, { spec: { length: 9 }, status: { draught: 2 } }, 'merge');
    expect([at(patched.body, 'status'), at(patched.body, 'spec.length')]).toEqual([{ draught: 2 }, 3]);
    expect(at(patched.body, 'metadata.generation')).toBe(1);
    const changed = await api.patch(`${boats}/afloat`, { spec: { length: 4 }, status: { draught: 3 } }, 'merge');
    expect([at(changed.body, 'status.draught'), at(changed.body, 'metadata.generation')]).toEqual([2, 2]);
  });

  test('prints the columns that it defines', async () => {
    await api.post(boats, boat('printed', { length: 5 }));
    const { body } = await api.get(`${boats}/printed`, { accept: TABLE });
    const columns = at(body, 'columnDefinitions') as readonly { name: string }[];
    expect(columns.map(({ name }) => name)).toEqual(['Name', 'Length', 'Age']);
    expect(at(body, 'rows.0.cells.1')).toBe(5);
  });

  test('applies and strategic merge is not offered', async () => {
    const applied = await api.patch(`${boats}/applied`, boat('applied', { length: 2 }), 'apply', {
      query: { fieldManager: 'one' },
    });
    expect(applied.status).toBe(201);
    expect((await api.patch(`${boats}/applied`, { spec: {} }, 'strategic')).status).toBe(415);
  });

  test('a watch from before its time is answered 410', async () => {
    const answer = await api.get(boats, { query: { watch: true, resourceVersion: '1', timeoutSeconds: 2 } });
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"code":410')]);
    const event = JSON.parse(answer.text) as unknown;
    expect(event).toMatchObject({
      type: 'ERROR',
      object: refusal(410, 'Expired', expect.stringContaining('too old resource version: 1 (')),
    });
  });

  test('the objects go with their definition', async () => {
    expect((await api.remove(`${DEFINITIONS}/boats.${group}`)).status).toBe(200);
    await eventually(async () => {
      expect((await api.get(`${DEFINITIONS}/boats.${group}`)).status).toBe(404);
      expect((await api.get(boats)).status).toBe(404);
    });
  });

  test('refuses a definition whose name does not follow from its group', async () => {
    const wrong = { ...definition(group), metadata: { name: 'boats.other.dev' } };
    const { status, body } = await api.post(DEFINITIONS, wrong);
    expect(status).toBe(422);
    expect(textAt(body, 'message')).toContain('metadata.name: Invalid value: "boats.other.dev"');
  });
}

function definition(group: string): object {
  const spec = {
    type: 'object',
    required: ['length'],
    properties: {
      length: { type: 'integer', minimum: 1 },
      colour: { type: 'string', enum: ['white', 'red'], default: 'white' },
    },
    'x-kubernetes-validations': [
      { rule: "self.colour != 'red' || self.length > 2", message: 'must be longer than 2 when red' },
    ],
  };
  const status = { type: 'object', properties: { draught: { type: 'integer' } } };
  const columns = [
    { name: 'Length', type: 'integer', jsonPath: '.spec.length' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ];
  const version = {
    name: 'v1',
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: 'object', properties: { spec, status } } },
    subresources: { status: {} },
    additionalPrinterColumns: columns,
  };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `boats.${group}` },
    spec: {
      group,
      scope: 'Cluster',
      names: { plural: 'boats', singular: 'boat', kind: 'Boat', listKind: 'BoatList', shortNames: ['bt'] },
      versions: [version],
    },
  };
}

/** Kubernetes 1.34 names the type of an object that breaks a rule in place of its value. */
function withoutTypeNames(message: unknown): string {
  return String(message).replace('Invalid value: "object": ', 'Invalid value: ');
}
