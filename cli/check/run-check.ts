import type { KubeClient } from '#shared/kube/client/client.ts';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  MUTATING_WEBHOOKS,
  NODES,
  PODS,
  resourceLabel,
  RESOURCE_QUOTAS,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';
import { buildInfo } from '#shared/runtime/build-info.ts';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { CLUSTER_RESOURCES } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import type { OpenCluster } from '#cli/cluster/open-cluster.ts';
import { ofKind } from '#cli/manifests/parse-manifests.ts';
import { type ClusterManifests, readManifests } from '#cli/cluster/read-manifests.ts';
import { formatListing, type Listing, type ListingOptions } from '#cli/output/listing.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { accountFindings, type AllowedLists, listAllowed } from './account-rights.ts';
import { checkCluster, checkAnyCluster } from './check-cluster.ts';
import { WITH_CONDITIONS } from './condition-findings.ts';
import type { Finding } from './finding.ts';
import { kindNotInSnapshot } from './messages.ts';
import { controlGroupFindings, unmeasuredStalls, readNodeKernels } from './node-kernels.ts';
import { processFindings } from './process-findings.ts';
import { preInstallFindings } from './pre-install-findings.ts';
import { readWorkloads } from './workloads.ts';

export interface CheckOptions extends ClusterOptions, ListingOptions {
  /** Whether Plimsoll can be installed, rather than whether it works; only on a cluster. */
  readonly preInstall?: boolean;
  /** Seconds to wait until there are no errors. */
  readonly wait?: number;
}

const RESOURCES = [
  ...CLUSTER_RESOURCES,
  CUSTOM_RESOURCE_DEFINITIONS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  MUTATING_WEBHOOKS,
  VALIDATING_WEBHOOKS,
  CONFIG_MAPS,
  ...WITH_CONDITIONS,
  RESOURCE_QUOTAS,
];
const EXIT_FOUND = 1;
const WAIT_MS = 1_000;

/** Carries out `plimsoll check`: exit code 1 if there are errors; warnings do not count. */
export async function runCheck(options: CheckOptions, io: ProcessIo, clock: Clock = systemClock): Promise<void> {
  const findings = await checkUntil(options, io, clock);
  io.print(await formatListing({ ...LISTING, rows: findings }, options));
  io.exit(hasErrors(findings) ? EXIT_FOUND : 0);
}

/** Checks once, or with `wait` again and again until there are no errors or the time is over. */
async function checkUntil(options: CheckOptions, io: ProcessIo, clock: Clock): Promise<readonly Finding[]> {
  const until = clock.monotonic() + (options.wait ?? 0) * 1_000;
  for (;;) {
    const findings = await checkOnce(options, io);
    if (!hasErrors(findings) || clock.monotonic() >= until) return findings;
    await clock.sleep(WAIT_MS);
  }
}

async function checkOnce(options: CheckOptions, io: ProcessIo): Promise<readonly Finding[]> {
  const { version } = buildInfo('cli');
  if (options.filename !== undefined) return checkFiles(await readManifests(options, RESOURCES, io), version);
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  return withCluster(options, async ({ client, namespace }) => {
    const lists = await listAllowed(client, RESOURCES);
    const seen = {
      client,
      lists,
      read: { manifests: lists.manifests, now: io.now(), namespace: namespace ?? 'default' },
    };
    return options.preInstall === true ? beforeInstallation(seen) : afterInstallation(seen, version);
  });
}

/** Kinds that a snapshot does not contain are not treated as missing from the cluster. */
function checkFiles(read: ClusterManifests, version: string): readonly Finding[] {
  const unread = RESOURCES.filter(({ kind }) => read.unread?.has(kind));
  const findings = unread.map((resource) => kindNotInSnapshot(resourceLabel(resource)));
  return [...checkCluster(read, version, read.unread), ...findings];
}

interface SeenCluster {
  readonly client: OpenCluster['client'];
  readonly lists: AllowedLists;
  readonly read: Parameters<typeof checkCluster>[0];
}

async function afterInstallation({ client, lists, read }: SeenCluster, version: string): Promise<readonly Finding[]> {
  const [accounts, kernels, workloads] = await Promise.all([
    accountFindings(client),
    kernelsOf(client, lists),
    readWorkloads(client),
  ]);
  const found = checkCluster(
    { ...read, manifests: [...read.manifests, ...workloads.manifests] },
    version,
    lists.unread,
  );
  const processes = lists.unread.has(PODS.kind) ? [] : processFindings(read.manifests);
  return [
    ...workloads.findings,
    ...processes,
    ...found,
    ...lists.findings,
    ...accounts,
    ...controlGroupFindings(kernels),
  ];
}

async function beforeInstallation({ client, lists, read }: SeenCluster): Promise<readonly Finding[]> {
  const [possible, kernels] = await Promise.all([preInstallFindings(client, lists), kernelsOf(client, lists)]);
  const nodes = [...controlGroupFindings(kernels), ...unmeasuredStalls(kernels)];
  return [...possible, ...lists.findings, ...nodes, ...checkAnyCluster(read, lists.unread)];
}

function kernelsOf(client: KubeClient, { manifests }: AllowedLists): ReturnType<typeof readNodeKernels> {
  return readNodeKernels(client, ofKind(manifests, NODES));
}

function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === 'Error');
}

const LISTING: Omit<Listing<Finding>, 'rows'> = {
  kind: 'Finding',
  itemOf: (finding) => finding,
  columns: [
    { header: 'LEVEL', cell: ({ level }) => level },
    { header: 'SUBJECT', cell: ({ subject }) => subject },
    { header: 'FINDING', cell: ({ text, next }) => (next === '' ? text : `${text}; ${next}`) },
  ],
};
