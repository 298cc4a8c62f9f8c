import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { webhookConfigurations } from '#shared/kube/admission/webhook-configurations.ts';
import { EXEMPT_NAMESPACES } from '#shared/kube/api-names.ts';
import type { Attributes } from '#sandbox/api-server/admission.ts';
import { builtInTypes } from '#sandbox/api-server/kinds/built-in.ts';
import { loadDefinitions } from '#sandbox/api-server/schema/definitions.ts';
import { reviewRequest } from '#sandbox/api-server/webhooks/review-outcome.ts';
import { checkConditions, isWanted } from '#sandbox/api-server/webhooks/match-webhook.ts';
import { webhooksOf } from '#sandbox/api-server/webhooks/webhook.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

const MANIFEST = fileURLToPath(new URL('../../deploy/base/webhook/configurations.yaml', import.meta.url));
const types = builtInTypes(loadDefinitions());

/** Every set of configurations that we hand out: the manifests, and what the webhook of the sandbox registers itself. */
const REGISTRATIONS: Record<string, readonly unknown[]> = {
  'the manifests': parseAllDocuments(readFileSync(MANIFEST, 'utf8')).map((document) => document.toJS() as unknown),
  'the registration of the sandbox': webhookConfigurations({
    target: { kind: 'url', url: 'https://127.0.0.1:10250' },
    failurePolicy: 'Ignore',
    gatedCallers: [],
  }),
};

const ALICE = { username: 'alice', groups: ['system:authenticated'] };
const NODE = { username: 'system:node:n1', groups: ['system:nodes', 'system:authenticated'] };
const SCHEDULER = { username: 'system:kube-scheduler', groups: ['system:authenticated'] };
const CONTROLLER = {
  username: 'system:serviceaccount:kube-system:replicaset-controller',
  groups: ['system:serviceaccounts', 'system:serviceaccounts:kube-system', 'system:authenticated'],
};

function own(namespace: string, name: string) {
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return { username: `system:serviceaccount:${namespace}:${name}`, groups };
}

const AGENT = own('plimsoll-node', 'plimsoll-agent');
const MIRROR = { 'kubernetes.io/config.mirror': 'hash', 'kubernetes.io/config.source': 'file' };

interface Request {
  readonly user: Attributes['user'];
  readonly operation?: Attributes['operation'];
  readonly subresource?: Attributes['subresource'];
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly className?: string;
}

function attributesOf({
  user,
  operation = 'CREATE',
  subresource = '',
  namespace = 'team-a',
  annotations = {},
  className: priorityClassName = 'low',
}: Request) {
  const type = types.find(({ plural }) => plural === 'pods');
  if (type === undefined) throw new Error('pods are unknown');
  const metadata = { name: 'web', namespace, annotations };
  const pod = { kind: 'Pod', apiVersion: 'v1', metadata, spec: { priorityClassName } };
  const kind = subresource === 'eviction' ? { group: 'policy', version: 'v1', kind: 'Eviction' } : type;
  const attributes: Attributes = {
    operation,
    type,
    subresource,
    kind,
    namespace,
    name: 'web',
    user,
    isDryRun: false,
    options: {},
    object: operation === 'DELETE' ? undefined : pod,
    previous: operation === 'CREATE' ? undefined : pod,
    warn: () => undefined,
  };
  return attributes;
}

/** The entries that an API server would ask about this request, sorted. */
function askedEntries(configurations: readonly unknown[], request: Request): readonly string[] {
  const attributes = attributesOf(request);
  const { namespace = 'team-a', labels = { 'plimsoll.dev/priority-quota': 'enforced' } } = request;
  const namespaceLabels = new Map(Object.entries({ 'kubernetes.io/metadata.name': namespace, ...labels }));
  return configurations
    .flatMap((configuration) => webhooksOf(configuration as KubeObject))
    .filter((webhook) => isWanted(webhook, attributes, namespaceLabels))
    .filter(({ conditions }) => checkConditions(conditions, reviewRequest(attributes)).kind === 'met')
    .map(({ name, isMutating }) => `${name.split('.', 1)[0] ?? ''}${isMutating ? ' (mutating)' : ''}`)
    .sort();
}

const LIMITED = { 'plimsoll.dev/disruption-limits': 'enforced' };
const EVERYTHING = ['priority', 'priority (mutating)', 'quota'];

const CASES: Record<string, { request: Request; asked: readonly string[] }> = {
  'a pod of a tenant': { request: { user: ALICE }, asked: EVERYTHING },
  'a pod of a controller': { request: { user: CONTROLLER }, asked: EVERYTHING },
  'a tenant who calls a pod a mirror pod': { request: { user: ALICE, annotations: MIRROR }, asked: EVERYTHING },
  'a mirror pod that a node creates': { request: { user: NODE, annotations: MIRROR }, asked: [] },
  'a pod of our own account': { request: { user: AGENT }, asked: ['quota'] },
  'an account of ours by name alone, from another namespace': {
    request: { user: own('team-a', 'plimsoll-agent') },
    asked: EVERYTHING,
  },
  'a namespace that no quota is in force in': { request: { user: ALICE, labels: {} }, asked: EVERYTHING.slice(0, 2) },
  'an ignored namespace': {
    request: { user: ALICE, labels: { 'plimsoll.dev/ignore': 'true', 'plimsoll.dev/priority-quota': 'enforced' } },
    asked: [],
  },
  'a deletion by the second scheduler': {
    request: { user: own('plimsoll-system', 'plimsoll-kube-scheduler'), operation: 'DELETE' },
    asked: ['deletions'],
  },
  'a pod of the second scheduler': {
    request: { user: own('plimsoll-system', 'plimsoll-kube-scheduler') },
    asked: EVERYTHING,
  },
  'a resize': { request: { user: ALICE, operation: 'UPDATE', subresource: 'resize' }, asked: ['quota'] },
  'any other change of a pod': { request: { user: ALICE, operation: 'UPDATE' }, asked: [] },
  'an eviction by our agent': { request: { user: AGENT, subresource: 'eviction' }, asked: ['own-evictions'] },
  'an eviction by our agent in kube-system': {
    request: { user: AGENT, subresource: 'eviction', namespace: 'kube-system' },
    asked: ['own-evictions'],
  },
  'an eviction by our agent in an ignored namespace': {
    request: { user: AGENT, subresource: 'eviction', labels: { 'plimsoll.dev/ignore': 'true' } },
    asked: ['own-evictions'],
  },
  'an eviction by another account of ours': {
    request: { user: own('plimsoll-system', 'plimsoll-scheduler'), subresource: 'eviction' },
    asked: ['own-evictions'],
  },
  'an eviction by the scheduler': { request: { user: SCHEDULER, subresource: 'eviction' }, asked: ['evictions'] },
  'a deletion by our agent': { request: { user: AGENT, operation: 'DELETE' }, asked: ['deletions'] },
  'an eviction by a person': { request: { user: ALICE, subresource: 'eviction' }, asked: [] },
  'an eviction by a person where limits are enforced': {
    request: { user: ALICE, subresource: 'eviction', labels: LIMITED },
    asked: ['limited-evictions'],
  },
  'an eviction by our agent where limits are enforced': {
    request: { user: AGENT, subresource: 'eviction', labels: LIMITED },
    asked: ['own-evictions'],
  },
  'an eviction in kube-system, which nobody can put under limits': {
    request: { user: ALICE, subresource: 'eviction', labels: LIMITED, namespace: 'kube-system' },
    asked: [],
  },
  'a deletion by a person where limits are enforced': {
    request: { user: ALICE, operation: 'DELETE', labels: LIMITED },
    asked: ['limited-deletions'],
  },
  'a deletion by a node where limits are enforced': {
    request: { user: NODE, operation: 'DELETE', labels: LIMITED },
    asked: [],
  },
  'a preemption of a pod without a class': {
    request: { user: SCHEDULER, operation: 'DELETE', className: '' },
    asked: [],
  },
  'a preemption': { request: { user: SCHEDULER, operation: 'DELETE' }, asked: ['deletions'] },
  'a preemption in kube-system': {
    request: { user: SCHEDULER, operation: 'DELETE', namespace: 'kube-system' },
    asked: ['deletions'],
  },
  'a deletion by a node': { request: { user: NODE, operation: 'DELETE' }, asked: [] },
  'a deletion by a controller, or with its namespace': {
    request: { user: CONTROLLER, operation: 'DELETE' },
    asked: [],
  },
  ...Object.fromEntries(
    [...EXEMPT_NAMESPACES].map((namespace) => [
      `a pod in ${namespace}`,
      { request: { user: ALICE, namespace }, asked: [] },
    ]),
  ),
};

describe.each(Object.entries(REGISTRATIONS))('%s: who is asked about', (_, configurations) => {
  test.each(Object.entries(CASES))('%s', (__, { request, asked }) => {
    expect(askedEntries(configurations, request)).toEqual(asked);
  });
});
