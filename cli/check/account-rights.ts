import { type Access, reviewAccess, type Reviewed, type Reviewer } from '#shared/kube/access/reviews.ts';
import { AGENT_ACCOUNT, WEBHOOK_ACCOUNT } from '#shared/kube/admission/cel-expressions.ts';
import { requesterOf } from '#cli/review/cluster-state.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { type Resource, resourceLabel } from '#shared/kube/resource.ts';
import { listAll, ListForbidden } from '#cli/cluster/list-all.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import type { Finding } from './finding.ts';
import { rightMissing, rightsThere, rightsUnknown, kindUnread } from './messages.ts';

/** The permissions that an account needs, in all namespaces. */
type Right = Omit<Access, 'namespace'> & { readonly account: string };

const GROUP = 'plimsoll.dev';

/** Permissions without which an account cannot work; docs/reference/rights.md lists all that it has. */
export const NEEDED_RIGHTS: readonly Right[] = [
  { account: AGENT_ACCOUNT, verb: 'list', group: '', resource: 'pods' },
  { account: AGENT_ACCOUNT, verb: 'create', group: '', resource: 'pods', subresource: 'eviction' },
  { account: AGENT_ACCOUNT, verb: 'list', group: GROUP, resource: 'nodepressurepolicies' },
  { account: AGENT_ACCOUNT, verb: 'patch', group: GROUP, resource: 'nodepressures', subresource: 'status' },
  { account: WEBHOOK_ACCOUNT, verb: 'list', group: '', resource: 'pods' },
  { account: WEBHOOK_ACCOUNT, verb: 'list', group: 'scheduling.k8s.io', resource: 'priorityclasses' },
  { account: WEBHOOK_ACCOUNT, verb: 'list', group: GROUP, resource: 'prioritypolicies' },
  { account: WEBHOOK_ACCOUNT, verb: 'update', group: GROUP, resource: 'priorityquotas', subresource: 'status' },
];

/** Whether the accounts of agent and webhook have their permissions, according to the API server's authorizers. */
export async function accountFindings(reviewer: Reviewer): Promise<readonly Finding[]> {
  const answers = await Promise.all(NEEDED_RIGHTS.map((right) => isAllowed(reviewer, right)));
  const refusal = answers.find((answer) => !answer.ok);
  if (refusal !== undefined) return [rightsUnknown(refusal.message)];
  const missing = NEEDED_RIGHTS.filter((_, index) => answers[index]?.ok === true && !answers[index].value);
  return missing.length === 0 ? [rightsThere(NEEDED_RIGHTS.length)] : missing.map(findingOf);
}

function isAllowed(reviewer: Reviewer, { account, ...access }: Right): Promise<Reviewed<boolean>> {
  const user = { username: account, groups: requesterOf(account).groups, extra: {} };
  return reviewAccess(reviewer, user, { ...access, namespace: '' });
}

function findingOf({ account, verb, ...access }: Right): Finding {
  return rightMissing(account, verb, resourceText(access));
}

/** As `kubectl auth can-i` takes it: `nodepressures.plimsoll.dev/status`. */
export function resourceText({
  group,
  resource,
  subresource,
}: Pick<Access, 'group' | 'resource' | 'subresource'>): string {
  return `${resource}${group === '' ? '' : `.${group}`}${subresource === undefined ? '' : `/${subresource}`}`;
}

/** The objects that could be listed. */
export interface AllowedLists {
  readonly manifests: readonly Manifest[];
  /** Kinds that the caller may not list. */
  readonly unread: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

/** Lists these kinds; a kind that the caller may not list becomes a finding. Rejects with an InputError for other failures. */
export async function listAllowed(client: KubeClient, resources: readonly Resource[]): Promise<AllowedLists> {
  const lists = await Promise.all(resources.map((resource) => listOrRefusal(client, resource)));
  const refused = lists.filter((list) => 'refusal' in list);
  return {
    manifests: lists.flatMap((list) => ('refusal' in list ? [] : list.manifests)),
    unread: new Set(refused.map(({ resource }) => resource.kind)),
    findings: refused.map(({ resource, refusal }) => kindUnread(resourceLabel(resource), refusal)),
  };
}

type Listed = { readonly manifests: readonly Manifest[] } | { readonly resource: Resource; readonly refusal: string };

async function listOrRefusal(client: KubeClient, resource: Resource): Promise<Listed> {
  try {
    return { manifests: await listAll(client, resource) };
  } catch (error) {
    if (error instanceof ListForbidden) return { resource, refusal: error.reason };
    throw error;
  }
}
