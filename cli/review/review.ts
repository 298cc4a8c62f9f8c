import type { KnownPods, ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { type Requester, type PodRequest, asChanged } from '#shared/domain/admission/request.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { isPod, type Manifest, namespaceOf, typeOf, nameOf } from '#cli/manifests/parse-manifests.ts';
import { because, type AdmissionDecision, allow, type Allowed } from '#shared/domain/admission/decision.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { decideTemplate, decideValidation } from '#shared/domain/admission/decide-validation.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { malformed } from '#shared/domain/admission/refusals.ts';
import { withDefaultRequests } from '#shared/domain/pod/pod-requests.ts';
import { decodePodRequest, decodeTemplate } from '#shared/kube/decode/decode-pod-request.ts';
import { printable } from '#cli/output/table.ts';
import { OWN_ACCOUNTS } from '#shared/kube/admission/cel-expressions.ts';
import { JUDGED_NAMESPACES } from '#shared/kube/admission/judged-namespaces.ts';
import { fieldOf, isRecord } from '#shared/kube/decode/wire-object.ts';
import { RESOURCE_QUOTAS } from '#shared/kube/resource.ts';
import { type PatchOperation, priorityPatch } from '#shared/kube/admission/pod-patches.ts';
import type { Column, Listing } from '#cli/output/listing.ts';
import { openRunningUsage, type RunningUsage } from './running-usage.ts';
import { isSurrounding, readReviewState } from './cluster-state.ts';

export interface ReviewInput {
  readonly manifests: readonly Manifest[];
  /** Objects of the cluster; those among the manifests replace them. */
  readonly inCluster: readonly Manifest[];
  /** Pods of the cluster; without any only those among the manifests are known. */
  readonly knownPods?: KnownPods | undefined;
  readonly requester: Requester;
  /** The namespace of objects that name none. */
  readonly namespace: string;
  readonly now: Instant;
}

interface ObjectReview {
  /** One per reviewed object, in the given order. */
  readonly rows: readonly Row[];
  readonly ignored: readonly Manifest[];
}

/**
 * Reviews pods and workloads one after the other. Throws an InputError if an object that decides about them is invalid.
 */
export function review({ manifests, inCluster, knownPods, requester, namespace, now }: ReviewInput): ObjectReview {
  const { judged, state, ignored } = sortManifests(manifests);
  const known = readReviewState([...inCluster, ...state.map(assumeStatus)], namespace);
  const usage = openRunningUsage(known, now, knownPods);
  const rows = judged.map((manifest) => {
    return rowOf(manifest, judgeManifest(manifest, usage, { requester, namespace }), namespace);
  });
  return { rows, ignored };
}

/** Who would create the objects, and the namespace of those that name none. */
interface RunningReview {
  readonly requester: Requester;
  readonly namespace: string;
}

/** The webhook's answer if the object were created now; an admitted pod is added to the running usage. */
function judgeManifest(manifest: Manifest, usage: RunningUsage, context: RunningReview): AdmissionDecision {
  const namespace = namespaceOf(manifest, context.namespace);
  const { requester } = context;
  const exemption = findExemption({ isPod: isPod(manifest), requester, namespace }, usage.world);
  if (exemption !== undefined) return allow(because('NothingToDecide', exemption));
  return isPod(manifest)
    ? judgePod(decodePodRequest(manifest.raw, requester, namespace), usage)
    : judgeWorkload(decodeTemplate(manifest.raw, requester, namespace), usage);
}

function judgeWorkload(template: ReturnType<typeof decodeTemplate>, { world }: RunningUsage): AdmissionDecision {
  if (template === undefined) return allow(because('NothingToDecide', 'there is no template'));
  return template.ok ? decideTemplate(template.value, world) : malformed('object', template);
}

function judgePod(decoded: ReturnType<typeof decodePodRequest>, usage: RunningUsage): AdmissionDecision {
  if (!decoded.ok) return malformed('object', decoded);
  const request = { ...decoded.value, pod: withDefaultRequests(decoded.value.pod) };
  const mutation = decideMutation(request, usage.world);
  return mutation.kind === 'refused' ? mutation : judgeMutated(request, mutation, usage);
}

function judgeMutated(request: PodRequest, mutation: Allowed, usage: RunningUsage): AdmissionDecision {
  const pod = asChanged(request.pod, mutation.change);
  const validation = decideValidation({ ...request, pod }, usage.world);
  if (validation.kind === 'refused') return validation;
  return usage.charge(pod) ?? { ...mutation, warnings: [...mutation.warnings, ...validation.warnings] };
}

/** Which manifests are reviewed, which decide about them, and which are neither. */
interface SortedManifests {
  readonly judged: readonly Manifest[];
  readonly state: readonly Manifest[];
  readonly ignored: readonly Manifest[];
}

const WORKLOADS: ReadonlySet<string> = new Set([
  'apps/v1 Deployment',
  'apps/v1 StatefulSet',
  'apps/v1 DaemonSet',
  'apps/v1 ReplicaSet',
  'v1 ReplicationController',
  'batch/v1 Job',
  'batch/v1 CronJob',
]);

export function sortManifests(manifests: readonly Manifest[]): SortedManifests {
  const sorted = Map.groupBy(manifests, (manifest) => {
    if (isPod(manifest) || WORKLOADS.has(typeOf(manifest))) return 'judged';
    return isSurrounding(manifest) ? 'state' : 'ignored';
  });
  return {
    judged: sorted.get('judged') ?? [],
    state: sorted.get('state') ?? [],
    ignored: sorted.get('ignored') ?? [],
  };
}

/** One line about what was ignored; none if nothing was. */
export function describeIgnored(ignored: readonly Manifest[]): readonly string[] {
  if (ignored.length === 0) return [];
  const counts = Map.groupBy(ignored, typeOf);
  const kinds = Array.from(counts, ([type, all]) => `${type} (${all.length})`).toSorted();
  return [printable(`Note: ignored objects of other kinds: ${kinds.join(', ')}`)];
}

interface Creation {
  readonly isPod: boolean;
  readonly requester: Requester;
  readonly namespace: string;
}

/** Why the API server would not call the webhook at all: its registered selectors and conditions, in words. */
function findExemption(
  { isPod, requester, namespace }: Creation,
  { namespaceLabels }: ClusterState,
): string | undefined {
  if (!JUDGED_NAMESPACES.matches(namespaceLabels(namespace) ?? new Map()))
    return `namespace \`${namespace}\` is exempt`;
  const exemptGroup = isPod ? 'system:nodes' : 'system:serviceaccounts:kube-system';
  if (requester.groups.includes(exemptGroup)) return `what group \`${exemptGroup}\` creates is exempt`;
  return OWN_ACCOUNTS.includes(requester.name) ? 'what Plimsoll creates is exempt' : undefined;
}

/**
 * A ResourceQuota as the quota controller would soon update it: limits in force, and zero usage if the file does not
 * set it. Other manifests are not changed.
 */
function assumeStatus(manifest: Manifest): Manifest {
  if (manifest.kind !== RESOURCE_QUOTAS.kind) return manifest;
  const { raw } = manifest;
  const status = fieldOf(raw, 'status');
  const hard = fieldOf(status, 'hard') ?? fieldOf(fieldOf(raw, 'spec'), 'hard');
  const used = fieldOf(status, 'used');
  if (!isRecord(hard)) return manifest;
  const nothing = Object.fromEntries(Object.keys(hard).map((name) => [name, '0']));
  return { ...manifest, raw: { ...raw, status: { hard, used: { ...nothing, ...(isRecord(used) && used) } } } };
}

/** The answer about one object, as users see it. */
export interface Row {
  /** `Kind/namespace/name`. */
  readonly object: string;
  /** As kubectl names it: `deployment.apps/web`. */
  readonly resource: string;
  readonly allowed: boolean;
  /** HTTP status of the answer. */
  readonly code: number;
  readonly message: string;
  readonly warnings: readonly string[];
  /** JSON patch (RFC 6902) with which the object would be admitted. */
  readonly patch: readonly PatchOperation[];
}

const ALLOWED = 200;

/** `namespace`: for an object that names none. */
function rowOf(manifest: Manifest, decision: AdmissionDecision, namespace: string): Row {
  const isAllowed = decision.kind === 'allowed';
  const name = nameOf(manifest) || '<none>';
  return {
    object: `${manifest.kind}/${namespaceOf(manifest, namespace)}/${name}`,
    resource: `${resourceOf(manifest)}/${name}`,
    allowed: isAllowed,
    code: isAllowed ? ALLOWED : decision.code,
    message: decision.because.text,
    warnings: decision.warnings,
    patch: isAllowed && decision.change !== undefined ? priorityPatch(manifest.raw, decision.change) : [],
  };
}

const PODS_REFUSED = PHRASES.podsWouldBeRefused('');

/** Whether the object, or the pods of a template, would be refused; with `orWarned` also whether there is a warning. */
export function isFailure({ allowed, warnings }: Row, orWarned: boolean): boolean {
  return !allowed || warnings.some((warning) => orWarned || warning.startsWith(PODS_REFUSED));
}

function resourceOf({ apiVersion, kind }: Manifest): string {
  const [group = '', version] = apiVersion.split('/', 2);
  return `${kind.toLowerCase()}${version === undefined ? '' : `.${group}`}`;
}

/** The answer of a review. */
export function reviewListing(rows: readonly Row[]): Listing<Row> {
  return { kind: 'ReviewResult', rows, itemOf: (row) => row, columns: COLUMNS, nameOf: ({ resource }) => resource };
}

const COLUMNS: readonly Column<Row>[] = [
  { header: 'OBJECT', cell: ({ object }) => object },
  { header: 'ALLOWED', cell: ({ allowed }) => String(allowed) },
  { header: 'CODE', cell: ({ code }) => String(code) },
  { header: 'PATCH', cell: ({ patch }) => (patch.length === 0 ? '<none>' : JSON.stringify(patch)), isWide: true },
  { header: 'MESSAGE', cell: ({ message }) => message },
];

/** With a table, warnings go to standard error, as with kubectl. */
export function warningLines(rows: readonly Row[]): readonly string[] {
  return rows.flatMap(({ object, warnings }) => warnings.map((warning) => printable(`Warning: ${object}: ${warning}`)));
}
