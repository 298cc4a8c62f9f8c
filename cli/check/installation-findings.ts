import type { Instant } from '#shared/domain/pod/pod.ts';
import { certificateValidity } from '#shared/http/certificates.ts';
import { WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import { fieldOf, itemsOf } from '#shared/kube/kube-object.ts';
import {
  CUSTOM_RESOURCE_DEFINITIONS,
  MUTATING_WEBHOOKS,
  NODE_PRESSURE_POLICIES,
  NODE_PRESSURES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  PRIORITY_RULES,
  resourceLabel,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';
import { nameOf, type Manifest } from '#cli/manifests/manifest.ts';
import type { Finding } from './finding.ts';
import {
  authorityExpires,
  authorityUnreadable,
  definitionMissing,
  definitionsThere,
  webhookMissing,
  webhookRegistered,
} from './messages.ts';

const KINDS = [NODE_PRESSURE_POLICIES, NODE_PRESSURES, PRIORITY_POLICIES, PRIORITY_QUOTAS, PRIORITY_RULES];
const DAY_MS = 86_400_000;
const SOON_DAYS = 14;

/** Whether the kinds are defined. */
export function definitionFindings(manifests: readonly Manifest[]): readonly Finding[] {
  const known = new Set(manifests.filter(({ kind }) => kind === CUSTOM_RESOURCE_DEFINITIONS.kind).map(nameOf));
  const missing = KINDS.map(resourceLabel).filter((name) => !known.has(name));
  return missing.length === 0 ? [definitionsThere(KINDS.length)] : missing.map(definitionMissing);
}

/** Whether the webhook is registered, with certificates that last. */
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

/** The end of the certificate that lasts longest: during a rotation there are several. */
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
