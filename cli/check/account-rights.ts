import { type Access, reviewAccess, type Reviewed, type Reviewer } from '#shared/kube/access/reviews.ts';
import {
  ACCOUNTS,
  ALL_ACCOUNTS,
  CONTROLLER_PARTS,
  FORMER_DEPLOYMENTS,
  type OwnAccount,
} from '#shared/kube/accounts/accounts.ts';
import { PART_RIGHTS, type Right, RIGHTS } from '#shared/kube/accounts/rights.ts';
import { fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { requesterOf } from '#cli/review/cluster-state.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { DEPLOYMENTS, type Resource, resourceLabel, resourcePath, SERVICE_ACCOUNTS } from '#shared/kube/resource.ts';
import { NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { listPermitted, type RefusedList } from '#cli/cluster/list-all.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import { type Finding, listed } from './finding.ts';
import { formerDeploymentsLeft, kindUnread, rightsMissing, rightsThere, rightsUnknown } from './messages.ts';

/** One permission of an account. */
interface Need {
  readonly account: string;
  readonly access: Access;
}

/** Always installed; the others are where their service account is. */
const BASE: readonly OwnAccount[] = [ACCOUNTS.webhook, ACCOUNTS.agent];
const AT_ONCE = 16;

/**
 * Whether the accounts that are installed have every right that deploy/ gives them, according to the API server's
 * authorizers.
 */
export async function accountFindings(client: Pick<KubeClient, 'request'>): Promise<readonly Finding[]> {
  const [accounts, former] = await Promise.all([installedAccounts(client), formerDeployments(client)]);
  return [...former, ...(await rightsFindings(client, accounts.flatMap(needsOf)))];
}

async function rightsFindings(
  client: Pick<KubeClient, 'request'>,
  needs: readonly Need[],
): Promise<readonly Finding[]> {
  const answers: Reviewed<boolean>[] = [];
  for (let first = 0; first < needs.length; first += AT_ONCE) {
    const some = needs.slice(first, first + AT_ONCE);
    answers.push(...(await Promise.all(some.map((need) => isAllowed(client, need)))));
    const refusal = answers.find((answer) => !answer.ok);
    if (refusal !== undefined) return [rightsUnknown(refusal.message)];
  }
  const missing = needs.filter((_, index) => answers[index]?.ok === true && !answers[index].value);
  if (missing.length === 0) return [rightsThere(needs.length)];
  return Array.from(Map.groupBy(missing, ({ account }) => account).values(), findingOf);
}

/** An account that cannot be looked for is left out, unless it is of the base. */
async function installedAccounts(client: Pick<KubeClient, 'request'>): Promise<readonly OwnAccount[]> {
  const isThere = async (each: OwnAccount): Promise<boolean> =>
    BASE.includes(each) ||
    (await client.request({ method: 'GET', path: resourcePath(SERVICE_ACCOUNTS, each) })).kind === 'ok';
  const found = await Promise.all(ALL_ACCOUNTS.map(isThere));
  const installed = ALL_ACCOUNTS.filter((_, index) => found[index]);
  if (!installed.includes(ACCOUNTS.controller)) return installed;
  const rights = await rightsOfController(client);
  return installed.map((each) => (each === ACCOUNTS.controller ? { ...each, rights } : each));
}

/** Those of the parts that its Deployment turns on; none where it cannot be read. */
async function rightsOfController(client: Pick<KubeClient, 'request'>): Promise<readonly Right[]> {
  const found = await readDeployment(client, ACCOUNTS.controller.name);
  if (found.kind !== 'ok') return [];
  const pod = fieldOf(fieldOf(fieldOf(found.object, 'spec'), 'template'), 'spec');
  const variables = itemsOf(fieldOf(pod, 'containers')).flatMap((each) => itemsOf(fieldOf(each, 'env')));
  const isOn = (variable: string): boolean =>
    variables.some(
      (each) => fieldOf(each, 'name') === variable && !['', 'Off'].includes(String(fieldOf(each, 'value'))),
    );
  const parts = CONTROLLER_PARTS.filter((part) => isOn(part.variable));
  return [...RIGHTS.controller, ...parts.flatMap((part) => PART_RIGHTS[part.name])];
}

function readDeployment(client: Pick<KubeClient, 'request'>, name: string): Promise<Outcome<unknown>> {
  return client.request({ method: 'GET', path: resourcePath(DEPLOYMENTS, { namespace: NAMESPACE_SYSTEM, name }) });
}

/** Deployments of earlier builds, which still lead their parts. */
async function formerDeployments(client: Pick<KubeClient, 'request'>): Promise<readonly Finding[]> {
  const found = await Promise.all(FORMER_DEPLOYMENTS.map((name) => readDeployment(client, name)));
  const names = FORMER_DEPLOYMENTS.filter((_, index) => found[index]?.kind === 'ok');
  return names.length === 0 ? [] : [formerDeploymentsLeft(names)];
}

function needsOf({ user: account, rights }: OwnAccount): readonly Need[] {
  return rights.flatMap(({ group, resources, verbs, names = [undefined], namespace = '' }) =>
    resources.flatMap((path) => {
      const [resource = '', subresource] = path.split('/');
      const object = { group, resource, namespace, ...(subresource !== undefined && { subresource }) };
      const one = (verb: string, name: string | undefined): Need => ({
        account,
        access: { ...object, verb, ...(name !== undefined && { name }) },
      });
      return verbs.flatMap((verb) => names.map((name) => one(verb, name)));
    }),
  );
}

function isAllowed(reviewer: Reviewer, { account, access }: Need): Promise<Reviewed<boolean>> {
  const user = { username: account, groups: requesterOf(account).groups, extra: {} };
  return reviewAccess(reviewer, user, access);
}

/** One line for each account: a role that is missing lacks dozens of rights. */
function findingOf(missing: readonly Need[]): Finding {
  const [{ account, access } = missing[0] as Need] = missing;
  const rights = missing.map(({ access: each }) => `${each.verb} ${resourceText(each)}`);
  return rightsMissing(account, listed([...new Set(rights)], 'rights'), `${access.verb} ${canIArguments(access)}`);
}

/** `kubectl auth can-i` takes what stands behind a slash for a name, and a subresource by a flag. */
function canIArguments({ group, resource, subresource, name, namespace }: Access): string {
  const type = resourceText({ group, resource });
  const object = name === undefined ? type : `${type}/${name}`;
  const flags = subresource === undefined ? [] : [`--subresource=${subresource}`];
  return [object, ...flags, namespace === '' ? '-A' : `-n ${namespace}`].join(' ');
}

/** As a role names it: `nodepressures.plimsoll.dev/status`. */
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
  const { manifests, refused } = await listPermitted(
    client,
    resources.map((resource) => ({ resource })),
  );
  return {
    manifests,
    unread: new Set(refused.map(({ resource }) => resource.kind)),
    findings: kindsUnread(refused),
  };
}

/** One line for all kinds: a tenant lacks many of them for one cause. */
function kindsUnread(refused: readonly RefusedList[]): readonly Finding[] {
  const [first] = refused;
  if (first === undefined) return [];
  return [kindUnread(refused.map(({ resource }) => resourceLabel(resource)).join(', '), first.refusal)];
}
