import { afterEach, beforeAll, expect, test } from 'vitest';
import {
  at,
  configMap,
  contractHarness,
  type Answer,
  type ContractTarget,
  pod,
  refusal,
  uniqueName,
} from './harness.ts';
import { ADMISSION, webhookRegistrar } from './webhook-registrar.ts';
import { eventually } from '#test/build/waiting.ts';

/** What a test says of its policy; everything else is the same in all of them. */
interface PolicySpec {
  readonly policy: object;
  readonly binding?: object;
}

/** ValidatingAdmissionPolicies are evaluated as Kubernetes documents it. */
export function admissionPolicyContract(target: () => ContractTarget): void {
  const api = contractHarness(target);
  const { register } = webhookRegistrar(api);
  const made: string[] = [];
  const maps = (): string => api.core('configmaps');
  const dryRun = { query: { dryRun: 'All' } };

  beforeAll(async () => {
    await api.post(maps(), configMap('limits', {}, 'three'));
  });
  afterEach(async () => {
    for (const path of made.splice(0)) await api.remove(path);
  });

  /** Answers how the API server refers to it, once it is in force: then one that was made after it refuses a probe. */
  async function enforce({ policy, binding = {} }: PolicySpec): Promise<string> {
    const name = uniqueName('contract');
    const probe = `object.metadata.?labels[?"probe"].orValue("") == "${name}"`;
    for (const [which, spec] of [
      [name, policy],
      [`${name}-probe`, { validations: [{ expression: `!(${probe})`, message: name }] }],
    ] as const)
      await create(which, spec, which === name ? binding : {});
    await eventually(async () => {
      const { body } = await api.post(maps(), configMap('probe', { probe: name }), dryRun);
      expect(at(body, 'message')).toContain(name);
    });
    return `ValidatingAdmissionPolicy '${name}' with binding '${name}'`;
  }

  async function create(name: string, policy: object, binding: object): Promise<void> {
    const matchConstraints = {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': api.namespace } },
      resourceRules: [
        { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps', 'pods'] },
      ],
    };
    const bound = { policyName: name, validationActions: ['Deny'], ...binding };
    for (const [kind, spec] of [
      ['validatingadmissionpolicies', { matchConstraints, ...policy }],
      ['validatingadmissionpolicybindings', bound],
    ] as const) {
      const answer = await api.post(`${ADMISSION}/${kind}`, { metadata: { name }, spec });
      expect([answer.status, at(answer.body, 'message')]).toEqual([201, undefined]);
      made.push(`${ADMISSION}/${kind}/${name}`);
    }
  }

  function write(name: string, value = '1'): Promise<Answer> {
    return api.post(maps(), configMap(name, {}, value), dryRun);
  }

  test('a refusal names policy and binding, and keeps reason and message', async () => {
    const validation = { expression: "object.metadata.name != 'bad'", message: 'not this name', reason: 'Forbidden' };
    const whose = await enforce({ policy: { validations: [validation] } });
    const { status, body } = await write('bad');
    expect(status).toBe(403);
    const said = `${whose} denied request: not this name`;
    expect(body).toMatchObject(refusal(403, 'Forbidden', `configmaps "bad" is forbidden: ${said}`));
    expect(at(body, 'details')).toMatchObject({ name: 'bad', kind: 'configmaps', causes: [{ message: said }] });
    expect((await write('good')).status).toBe(201);
  });

  test('without a reason it is a 422, and the message may be computed, from what came before', async () => {
    const whose = await enforce({
      policy: {
        variables: [
          { name: 'size', expression: "object.data[?'value'].orValue('').size()" },
          { name: 'excess', expression: 'variables.size - 3' },
        ],
        validations: [
          { expression: 'variables.excess <= 0', messageExpression: "string(variables.excess) + ' too many'" },
        ],
      },
    });
    const { status, body } = await write('long', 'abcdefg');
    expect([status, at(body, 'reason')]).toEqual([422, 'Invalid']);
    expect(at(body, 'message')).toBe(`configmaps "long" is forbidden: ${whose} denied request: 4 too many`);
  });

  test.each<[string, object, string]>([
    ['too long', { messageExpression: 'string(object.data.value) + string(object.data.value)' }, 'the fixed one'],
    ['of several lines', { messageExpression: "'a\\nb'" }, 'the fixed one'],
    ['empty', { messageExpression: "' '" }, 'the fixed one'],
    ['that fails', { messageExpression: "string(object.data['missing'])" }, 'the fixed one'],
  ])('a computed message %s gives way to the fixed one', async (_, said, message) => {
    await enforce({ policy: { validations: [{ expression: 'size(object.data.value) < 3000', message, ...said }] } });
    const { body } = await write('large', 'v'.repeat(3_000));
    expect(at(body, 'message')).toMatch(new RegExp(`denied request: ${message}$`));
  });

  test('a binding that warns lets in and says so', async () => {
    const policy = { validations: [{ expression: 'false', message: 'think twice' }] };
    const whose = await enforce({ policy, binding: { validationActions: ['Warn'] } });
    const { status, headers } = await write('any');
    expect(status).toBe(201);
    expect(headers['warning']).toBe(`299 - "Validation failed for ${whose}: think twice"`);
  });

  test('an object of the cluster is its parameter, found by name', async () => {
    const policy = {
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      validations: [
        { expression: "params.data.value == 'three' && namespaceObject.metadata.name == request.namespace" },
      ],
    };
    const paramRef = { name: 'limits', parameterNotFoundAction: 'Deny' };
    await enforce({ policy, binding: { paramRef } });
    await eventually(async () => expect((await write('any')).status).toBe(201));
    await api.patch(`${maps()}/limits`, { data: { value: 'four' } }, 'merge');
    await eventually(async () => expect((await write('any')).status).toBe(422));
    await api.patch(`${maps()}/limits`, { data: { value: 'three' } }, 'merge');
  });

  test.each<[string, string, object, number]>([
    ['a missing parameter lets in if that is allowed', 'missing', { parameterNotFoundAction: 'Allow' }, 201],
    ['a missing parameter refuses if that is not', 'missing', { parameterNotFoundAction: 'Deny' }, 422],
  ])('%s', async (_, name, action, status) => {
    const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
    const policy = { paramKind, validations: [{ expression: 'false' }] };
    await enforce({ policy, binding: { paramRef: { name, ...action } } });
    expect((await write('any')).status).toBe(status);
  });

  const onFailure = [
    ['Fail', 422],
    ['Ignore', 201],
  ] as const;

  test.each(onFailure)('an expression that fails is held against the request by %s', async (failurePolicy, status) => {
    await enforce({ policy: { failurePolicy, validations: [{ expression: "object.data['missing'] == ''" }] } });
    expect((await write('any')).status).toBe(status);
  });

  test.each(onFailure)(
    'a kind of parameter that is not there is held against it by %s',
    async (failurePolicy, status) => {
      const paramKind = { apiVersion: 'plimsoll.dev/v0', kind: 'Missing' };
      const binding = { paramRef: { name: 'any', parameterNotFoundAction: 'Allow' } };
      await enforce({ policy: { failurePolicy, paramKind, validations: [{ expression: 'false' }] }, binding });
      expect((await write('any')).status).toBe(status);
    },
  );

  test('a match condition that is false passes over all of it', async () => {
    const matchConditions = [{ name: 'bad', expression: "object.metadata.name == 'bad'" }];
    await enforce({ policy: { matchConditions, validations: [{ expression: 'false' }] } });
    expect([(await write('good')).status, (await write('bad')).status]).toEqual([201, 422]);
  });

  test('quantities, sets of names, optional fields and the least of a list', async () => {
    const expression = [
      "quantity('1Gi').isGreaterThan(quantity('1000Mi'))",
      "quantity('1') == quantity('1000m')",
      "'b' in {'a': true, 'b': true}",
      '[3, 1, 2].min() == 1',
      "{'a': 1}.filter(key, key == 'a') == ['a']",
      "object.?nothing.?here.orValue('none') == 'none'",
      'object.?data.orValue(null) != object.?missing.orValue(null) && object.metadata == object.metadata',
    ].join(' && ');
    await enforce({ policy: { validations: [{ expression }] } });
    expect(at((await write('any')).body, 'message')).toBeUndefined();
  });

  test('it sees what mutating webhooks made, and comes before the validating ones', async () => {
    const patch = Buffer.from(JSON.stringify([{ op: 'add', path: '/data/changed', value: '' }]));
    const reviewer = (): object => ({ allowed: true, patchType: 'JSONPatch', patch: patch.toString('base64') });
    await register('mutating', { path: '/change', reviewer });
    await register('validating', { path: '/late', reviewer: () => ({ allowed: false, status: { message: 'late' } }) });
    const expression = "!('changed' in object.data)";
    await enforce({ policy: { validations: [{ expression, message: 'changed' }] } });
    expect(at((await write('any')).body, 'message')).toContain('denied request: changed');
  });

  test('an update of nothing it is about is not its business', async () => {
    await enforce({ policy: { validations: [{ expression: 'false' }] } });
    expect((await api.post(api.core('secrets'), { metadata: { name: 'x' } }, dryRun)).status).toBe(201);
    expect((await api.post(api.core('pods'), pod('x'), dryRun)).status).toBe(422);
  });

  test.each<[string, object, string]>([
    ['does not compile', { validations: [{ expression: 'object.' }] }, 'spec.validations[0].expression: Invalid value'],
    ['compiles to no such function', { validations: [{ expression: 'object.nope()' }] }, 'compilation failed'],
  ])('a policy whose expression %s is refused', async (_, policy, message) => {
    const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
    const spec = { matchConstraints: { resourceRules }, ...policy };
    const { status, body } = await api.post(`${ADMISSION}/validatingadmissionpolicies`, {
      metadata: { name: uniqueName('wrong') },
      spec,
    });
    expect([status, at(body, 'message')]).toEqual([422, expect.stringContaining(message)]);
  });

  test('policies and bindings get their defaults', async () => {
    await enforce({ policy: { validations: [{ expression: 'true' }] } });
    const [policy = ''] = made.slice(-2);
    expect(at((await api.get(policy)).body, 'spec')).toMatchObject({
      failurePolicy: 'Fail',
      matchConstraints: { matchPolicy: 'Equivalent', objectSelector: {}, resourceRules: [{ scope: '*' }] },
    });
  });
}
