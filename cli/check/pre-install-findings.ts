import { type Access, reviewOwnAccess, type Reviewer } from '#shared/kube/access/reviews.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, resourceLabel } from '#shared/kube/resource.ts';
import { ADMISSION_RESOURCES, INSTALLED_RESOURCES } from '#cli/cluster/installed-resources.ts';
import { nameOf, ofKind } from '#cli/manifests/parse-manifests.ts';
import { resourceText, type AllowedLists } from './account-rights.ts';
import type { Finding } from './finding.ts';
import {
  admissionMissing,
  admissionThere,
  definitionsLeft,
  installRightMissing,
  installRightsThere,
  installRightsUnknown,
  versionFine,
  versionTooOld,
  versionUnknown,
} from './pre-install-messages.ts';

/** The oldest Kubernetes that Plimsoll supports: since then ValidatingAdmissionPolicies are stable. */
const OLDEST_MINOR = 30;
const ADMISSION = 'admissionregistration.k8s.io';
const ROLES = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' };
/**
 * A server-side apply is a patch, or a create if the object is new; roles grant permissions that the caller may lack.
 */
const NEEDED: readonly Omit<Access, 'namespace'>[] = [
  ...INSTALLED_RESOURCES.flatMap(({ group, plural }) =>
    ['create', 'patch'].map((verb) => ({ group, resource: plural, verb })),
  ),
  ...['escalate', 'bind'].map((verb) => ({ ...ROLES, verb })),
];

/**
 * Whether this caller can install Plimsoll: version, admission API, permissions, and remains of an earlier
 * installation.
 */
export async function preInstallFindings(client: Reviewer, lists: AllowedLists): Promise<readonly Finding[]> {
  const found = await Promise.all([versionFinding(client), admissionFindings(client), rightFindings(client)]);
  return [...found.flat(), ...leftDefinitions(lists)];
}

async function versionFinding(client: Reviewer): Promise<Finding> {
  const answer = await client.request({ path: '/version' });
  if (answer.kind !== 'ok') return versionUnknown(answer.message);
  const [major, minor] = ['major', 'minor'].map((field) => Number.parseInt(String(fieldOf(answer.object, field)), 10));
  const text = String(fieldOf(answer.object, 'gitVersion'));
  if (major === undefined || minor === undefined || Number.isNaN(major + minor)) return versionUnknown(text);
  return major > 1 || minor >= OLDEST_MINOR ? versionFine(text) : versionTooOld(text, `1.${OLDEST_MINOR}`);
}

async function admissionFindings(client: Reviewer): Promise<readonly Finding[]> {
  const answer = await client.request({ path: `/apis/${ADMISSION}/v1` });
  const served = answer.kind === 'ok' ? itemsOf(fieldOf(answer.object, 'resources')) : [];
  const names = new Set(served.map((each) => fieldOf(each, 'name')));
  const missing = ADMISSION_RESOURCES.filter(({ plural }) => !names.has(plural));
  return missing.length === 0 ? [admissionThere()] : missing.map((each) => admissionMissing(resourceLabel(each)));
}

async function rightFindings(client: Reviewer): Promise<readonly Finding[]> {
  const answers = await Promise.all(NEEDED.map((access) => reviewOwnAccess(client, { ...access, namespace: '' })));
  const refusal = answers.find((answer) => !answer.ok);
  if (refusal !== undefined) return [installRightsUnknown(refusal.message)];
  const missing = NEEDED.filter((_, index) => answers[index]?.ok === true && !answers[index].value);
  if (missing.length === 0) return [installRightsThere(NEEDED.length)];
  return missing.map((access) => installRightMissing(access.verb, resourceText(access)));
}

/** CustomResourceDefinitions stay when Plimsoll is uninstalled, with their policies. */
function leftDefinitions({ manifests }: AllowedLists): readonly Finding[] {
  const names = ofKind(manifests, CUSTOM_RESOURCE_DEFINITIONS).map(nameOf);
  const left = names.filter((name) => name.endsWith('.plimsoll.dev'));
  return left.length === 0 ? [] : [definitionsLeft(left)];
}
