import { describe, expect, test } from 'vitest';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import { loadDefinitions } from '#sandbox/api-server/schema/definitions.ts';
import { builtInTypes } from '#sandbox/api-server/kinds/built-in.ts';
import { reviewRequest } from '#sandbox/api-server/webhooks/review-outcome.ts';
import { checkConditions, isWanted } from '#sandbox/api-server/webhooks/match-webhook.ts';
import { webhooksOf, type Webhook } from '#sandbox/api-server/webhooks/webhook.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

const types = builtInTypes(loadDefinitions());

function attributes(plural: string, changes: Partial<Attributes> = {}): Attributes {
  const type = types.find((one) => one.plural === plural);
  if (type === undefined) throw new Error(`no type ${plural}`);
  return {
    operation: 'CREATE',
    type,
    subresource: '',
    kind: type,
    namespace: 'team',
    name: 'x',
    user: { username: 'alice', groups: [] },
    isDryRun: false,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    object: { kind: type.kind, apiVersion: type.apiVersion, metadata: { name: 'x', labels: { app: 'web' } } },
    previous: undefined,
    warn: () => undefined,
    ...changes,
  };
}

function webhook(entry: object): Webhook {
  const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
  const webhooks = [{ name: 'a.b.c', rules, clientConfig: { url: 'https://x' }, ...entry }];
  const [first] = webhooksOf({
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: '',
    metadata: { name: 'w' },
    webhooks,
  } as unknown as KubeObject);
  if (first === undefined) throw new Error('no webhook');
  return first;
}

const rule = (changes: object): object => ({
  rules: [{ apiGroups: ['*'], apiVersions: ['*'], operations: ['*'], resources: ['pods'], ...changes }],
});
const LABELS = new Map([['team', 'a']]);

describe('isWanted', () => {
  test.each<[string, object, Attributes, boolean]>([
    ['its resource', {}, attributes('pods'), true],
    ['another resource', {}, attributes('configmaps'), false],
    ['another operation', {}, attributes('pods', { operation: 'DELETE' }), false],
    ['a subresource of pods by "pods"', rule({}), attributes('pods', { subresource: 'eviction' }), false],
    [
      'a subresource of pods by "*"',
      rule({ resources: ['*'] }),
      attributes('pods', { subresource: 'eviction' }),
      false,
    ],
    [
      'a subresource by "pods/*"',
      rule({ resources: ['pods/*'] }),
      attributes('pods', { subresource: 'eviction' }),
      true,
    ],
    ['pods themselves by "pods/*"', rule({ resources: ['pods/*'] }), attributes('pods'), true],
    [
      'a subresource by its name',
      rule({ resources: ['pods/eviction'] }),
      attributes('pods', { subresource: 'eviction' }),
      true,
    ],
    ['pods by "pods/eviction"', rule({ resources: ['pods/eviction'] }), attributes('pods'), false],
    ['everything by "*/*"', rule({ resources: ['*/*'] }), attributes('pods', { subresource: 'status' }), true],
    [
      'a cluster-scoped kind by scope Namespaced',
      rule({ resources: ['*'], scope: 'Namespaced' }),
      attributes('nodes', { namespace: '' }),
      false,
    ],
    [
      'webhook configurations',
      rule({ resources: ['*'] }),
      attributes('validatingwebhookconfigurations', { namespace: '' }),
      false,
    ],
    ['a namespace that is selected', { namespaceSelector: { matchLabels: { team: 'a' } } }, attributes('pods'), true],
    ['a namespace that is not', { namespaceSelector: { matchLabels: { team: 'b' } } }, attributes('pods'), false],
    ['labels that are selected', { objectSelector: { matchLabels: { app: 'web' } } }, attributes('pods'), true],
    ['labels that are not', { objectSelector: { matchLabels: { app: 'db' } } }, attributes('pods'), false],
    [
      'labels of the old object',
      { objectSelector: { matchLabels: { app: 'web' } } },
      attributes('pods', { object: undefined, previous: attributes('pods').object }),
      true,
    ],
  ])('%s', (_, entry, request, isExpected) => {
    expect(isWanted(webhook(entry), request, LABELS)).toBe(isExpected);
  });
});

describe('reviewRequest', () => {
  const recordedCreate = [
    'uid',
    'kind',
    'resource',
    'requestKind',
    'requestResource',
    'name',
    'namespace',
    'operation',
    'userInfo',
    'object',
    'oldObject',
    'dryRun',
    'options',
  ];

  test('has the keys of a recorded create, in their order', () => {
    expect(Object.keys(reviewRequest(attributes('pods')))).toEqual(recordedCreate);
  });

  test('has the keys of a recorded eviction', () => {
    const keys = Object.keys(reviewRequest(attributes('pods', { subresource: 'eviction' })));
    expect(keys).toEqual(
      recordedCreate.flatMap((key) =>
        key === 'resource' ? [key, 'subResource'] : key === 'requestResource' ? [key, 'requestSubResource'] : [key],
      ),
    );
  });

  test('leaves out a name that is still to be generated', () => {
    const object = { kind: 'Pod', apiVersion: 'v1', metadata: { name: '', generateName: 'gen-' } };
    const request = reviewRequest(attributes('pods', { name: '', object }));
    expect(request).not.toHaveProperty('name');
    expect(request['object']).toEqual({ ...object, metadata: { generateName: 'gen-' } });
  });

  test('every call has a UID of its own', () => {
    const one = attributes('pods');
    expect(reviewRequest(one)['uid']).not.toBe(reviewRequest(one)['uid']);
  });
});

describe('checkConditions', () => {
  const conditions = (...expressions: readonly string[]): Webhook['conditions'] =>
    webhook({ matchConditions: expressions.map((expression, n) => ({ name: `c${n}`, expression })) }).conditions;
  const request = reviewRequest(
    attributes('pods', { object: { ...attributes('pods').object, spec: { priority: 5 } } as unknown as KubeObject }),
  );

  test.each<[string, readonly string[], object]>([
    ['none', [], { kind: 'met' }],
    ['all true', ["request.operation == 'CREATE'", 'object.spec.priority > 4'], { kind: 'met' }],
    ['one false', ['true', "request.userInfo.username == 'bob'"], { kind: 'unmet' }],
    ['one false and one that fails', ['object.none.at.all == 1', 'false'], { kind: 'unmet' }],
    ['an old object that is not there', ['oldObject == null'], { kind: 'met' }],
    ['optional fields', ["object.metadata.?annotations.?x.orValue('') == ''"], { kind: 'met' }],
  ])('%s', (_, expressions, outcome) => {
    expect(checkConditions(conditions(...expressions), request)).toEqual(outcome);
  });

  test('one that fails, and none false', () => {
    expect(checkConditions(conditions('object.none.at.all == 1'), request)).toMatchObject({ kind: 'failed' });
  });
});
