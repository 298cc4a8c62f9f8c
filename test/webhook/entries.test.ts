import { describe, expect, test } from 'vitest';
import { charge } from '#shared/domain/quota/charge.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { webhookConfigurations } from '#shared/kube/admission/webhook-configurations.ts';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import { builtInTypes } from '#sandbox/api-server/kinds/built-in.ts';
import { loadDefinitions } from '#sandbox/api-server/schema/definitions.ts';
import { reviewRequest } from '#sandbox/api-server/webhooks/review-outcome.ts';
import { checkConditions, isWanted } from '#sandbox/api-server/webhooks/match-webhook.ts';
import { webhooksOf } from '#sandbox/api-server/webhooks/webhook.ts';
import { NOW } from '#test/build/admission.ts';
import { pod } from './support/reviews.ts';

const CONFIGURATIONS = webhookConfigurations({
  target: { kind: 'url', url: 'https://127.0.0.1:10250' },
  failurePolicy: 'Ignore',
  gatedCallers: [],
});
const TYPES = builtInTypes(loadDefinitions());
const DEFAULT = { globalDefault: true };

interface Rule {
  readonly resources: readonly string[];
}

/** The entries that are asked about a change of a priority class. */
function askedAbout(
  operation: Attributes['operation'],
  before: object | undefined,
  after: object | undefined,
): string[] {
  const type = TYPES.find(({ plural }) => plural === 'priorityclasses');
  if (type === undefined) throw new Error('priority classes are unknown');
  const classOf = (fields: object | undefined) =>
    fields && { kind: type.kind, apiVersion: type.apiVersion, metadata: { name: 'gold' }, value: 1, ...fields };
  const attributes: Attributes = {
    operation,
    type,
    subresource: '',
    kind: type,
    namespace: '',
    name: 'gold',
    user: { username: 'alice', groups: [] },
    isDryRun: false,
    options: {},
    object: classOf(after),
    previous: classOf(before),
    warn: () => undefined,
  };
  return CONFIGURATIONS.flatMap((configuration) => webhooksOf(configuration as Parameters<typeof webhooksOf>[0]))
    .filter((webhook) => isWanted(webhook, attributes, new Map()))
    .filter(({ conditions }) => checkConditions(conditions, reviewRequest(attributes)).kind === 'met')
    .map(({ name }) => name);
}

describe('what the API server asks us about', () => {
  test.each<[string, Attributes['operation'], object | undefined, object | undefined, string[]]>([
    ['a new class', 'CREATE', undefined, {}, []],
    ['a new global default', 'CREATE', undefined, DEFAULT, ['classes.plimsoll.dev']],
    ['another description', 'UPDATE', {}, { description: 'x' }, []],
    ['a class made the default', 'UPDATE', {}, DEFAULT, ['classes.plimsoll.dev']],
    ['a class that is the default no longer', 'UPDATE', DEFAULT, {}, ['classes.plimsoll.dev']],
    ['a deleted class', 'DELETE', {}, undefined, ['classes.plimsoll.dev']],
  ])('of priority classes: %s', (_, operation, before, after, asked) => {
    expect(askedAbout(operation, before, after)).toEqual(asked);
  });

  test('of subresources only resizes and evictions: ephemeral containers and status pass as in tree', () => {
    const entries = CONFIGURATIONS.flatMap(
      (configuration: KubeObject) => configuration['webhooks'] as { rules: Rule[] }[],
    );
    const resources = entries.flatMap(({ rules }) => rules.flatMap((rule) => rule.resources));
    const parts = resources.filter((name) => name.includes('/') || name.includes('*'));
    expect([...new Set(parts)].toSorted()).toEqual(['pods/eviction', 'pods/resize']);
  });
});

test('an ephemeral container costs no quota anything', () => {
  const costOf = (spec: Record<string, unknown>) => {
    const decoded = decodePod(pod(spec));
    if (!decoded.ok) throw new Error(decoded.message);
    return charge(decoded.value, NOW);
  };
  const debugging = [{ name: 'debug', image: 'i', resources: { requests: { memory: '8Gi' } } }];
  expect(costOf({ ephemeralContainers: debugging })).toEqual(costOf({}));
});
