import { DAY_MS } from '#shared/domain/base/durations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { certificateValidity } from '#shared/http/certificates.ts';
import { WEBHOOK_CONFIGURATION, NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import {
  OUR_KINDS,
  CUSTOM_RESOURCE_DEFINITIONS,
  MUTATING_WEBHOOKS,
  resourceLabel,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';
import { nameOf, type Manifest, ofKind } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import {
  authorityExpires,
  authorityUnreadable,
  definitionMissing,
  definitionsThere,
  webhookMissing,
  webhookRegistered,
  changesClasses,
  judgesEvictions,
  judgesOwnPods,
} from './messages.ts';

const SOON_DAYS = 14;

/** Whether the kinds are defined. */
export function definitionFindings(manifests: readonly Manifest[]): readonly Finding[] {
  const known = new Set(ofKind(manifests, CUSTOM_RESOURCE_DEFINITIONS).map(nameOf));
  const missing = OUR_KINDS.map(resourceLabel).filter((name) => !known.has(name));
  return missing.length === 0 ? [definitionsThere(OUR_KINDS.length)] : missing.map(definitionMissing);
}

/** Whether the webhook is registered, with valid certificates. */
export function registrationFindings(manifests: readonly Manifest[], now: Instant): readonly Finding[] {
  return [MUTATING_WEBHOOKS, VALIDATING_WEBHOOKS].flatMap(({ kind }) => webhookFindings(kind, manifests, now));
}

function webhookFindings(kind: string, manifests: readonly Manifest[], now: Instant): readonly Finding[] {
  const found = manifests.find((each) => each.kind === kind && nameOf(each) === WEBHOOK_CONFIGURATION);
  if (found === undefined) return [webhookMissing(kind)];
  const entries = itemsOf(fieldOf(found.raw, 'webhooks'));
  const faults = entries.flatMap((entry) => authorityFinding(kind, entry, now) ?? []);
  return faults.length > 0 ? faults : [webhookRegistered(kind, entries.length)];
}

function authorityFinding(kind: string, entry: unknown, now: Instant): Finding | undefined {
  const name = String(fieldOf(entry, 'name'));
  const until = lastDay(fieldOf(fieldOf(entry, 'clientConfig'), 'caBundle'));
  if (until === undefined) return authorityUnreadable(kind, name);
  const days = Math.floor((until - now) / DAY_MS);
  return days < SOON_DAYS ? authorityExpires(kind, name, days) : undefined;
}

/** The latest expiry: during a rotation there are several certificates. */
function lastDay(caBundle: unknown): Instant | undefined {
  if (typeof caBundle !== 'string') return undefined;
  const pem = Buffer.from(caBundle, 'base64').toString('utf8');
  const ends = (pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).flatMap(endOf);
  return ends.length === 0 ? undefined : Math.max(...ends);
}

function endOf(pem: string): readonly Instant[] {
  try {
    return [certificateValidity(pem).notAfter];
  } catch {
    return [];
  }
}

const CONFIGURATIONS: readonly string[] = [MUTATING_WEBHOOKS.kind, VALIDATING_WEBHOOKS.kind];
const NAME_LABEL = 'kubernetes.io/metadata.name';

/** One entry of another webhook configuration. */
interface OtherEntry {
  readonly name: string;
  readonly isMutating: boolean;
  readonly raw: unknown;
}

/** Other webhooks that may refuse our evictions, keep our pods from starting, or change our decisions. */
export function webhookConflicts(manifests: readonly Manifest[]): readonly Finding[] {
  const entries = manifests.filter(({ kind }) => CONFIGURATIONS.includes(kind)).flatMap(otherEntries);
  return [
    ...entries.filter(({ raw }) => hasRule(raw, 'pods/eviction')).map(({ name }) => judgesEvictions(name)),
    ...entries.filter(({ raw }) => mayKeepOurPodsOut(raw)).map(({ name }) => judgesOwnPods(name)),
    ...entries.filter(({ raw, isMutating }) => isMutating && changes(raw)).map(({ name }) => changesClasses(name)),
  ];
}

function otherEntries(manifest: Manifest): readonly OtherEntry[] {
  if (nameOf(manifest) === WEBHOOK_CONFIGURATION) return [];
  return itemsOf(fieldOf(manifest.raw, 'webhooks')).map((raw) => ({
    name: `${nameOf(manifest)} (${String(fieldOf(raw, 'name'))})`,
    isMutating: manifest.kind === MUTATING_WEBHOOKS.kind,
    raw,
  }));
}

/** A rule for this resource of the core group; a subresource is matched by a star after the slash, not by a star alone. */
function hasRule(entry: unknown, resource: string): boolean {
  const [kind = '', subresource] = resource.split('/');
  const stars = subresource === undefined ? ['*', '*/*'] : ['*/*', `${kind}/*`, `*/${subresource}`];
  return itemsOf(fieldOf(entry, 'rules')).some((rule) => {
    const groups = itemsOf(fieldOf(rule, 'apiGroups'));
    const isCore = groups.includes('') || groups.includes('*');
    return isCore && itemsOf(fieldOf(rule, 'resources')).some((each) => [resource, ...stars].includes(String(each)));
  });
}

/** Fails closed for pods of our namespace; the namespace is certainly excluded only if the selector names it. */
function mayKeepOurPodsOut(entry: unknown): boolean {
  if (fieldOf(entry, 'failurePolicy') === 'Ignore' || !hasRule(entry, 'pods')) return false;
  const selector = fieldOf(entry, 'namespaceSelector');
  const labels = fieldOf(selector, 'matchLabels');
  const expressions = itemsOf(fieldOf(selector, 'matchExpressions'));
  const isForLabelled = Object.keys(labels ?? {}).length > 0 || expressions.some(isForSome);
  return !isForLabelled && !expressions.some(leavesUsOut);
}

function isForSome(expression: unknown): boolean {
  return ['In', 'Exists'].includes(String(fieldOf(expression, 'operator')));
}

function leavesUsOut(expression: unknown): boolean {
  const isByName = fieldOf(expression, 'key') === NAME_LABEL && fieldOf(expression, 'operator') === 'NotIn';
  return isByName && itemsOf(fieldOf(expression, 'values')).includes(NAMESPACE_SYSTEM);
}

/** Called for pods again after ours: it may set a class that the webhook then refuses. */
function changes(entry: unknown): boolean {
  return hasRule(entry, 'pods') && fieldOf(entry, 'reinvocationPolicy') === 'IfNeeded';
}
