import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { KubeClient } from '#shared/kube/client/client.ts';
import {
  CONFIG_MAPS,
  CUSTOM_RESOURCE_DEFINITIONS,
  DISRUPTIONS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  MUTATING_WEBHOOKS,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  QUEUES,
  RESCHEDULING_POLICIES,
  type Resource,
  RESOURCE_QUOTAS,
  VALIDATING_WEBHOOKS,
} from '#shared/kube/resource.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { CLUSTER_RESOURCES } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { listAll, ListForbidden } from '#cli/cluster/list-all.ts';
import { withCluster } from '#cli/cluster/open-cluster.ts';
import { LIMIT_RESOURCES } from '#cli/cluster/read-disruptions.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import { formatYaml } from '#cli/output/answer.ts';
import { keepFields } from './kept-fields.ts';
import { makeSnapshot, type Snapshot, snapshotJson } from './make-snapshot.ts';
import { createPseudonyms } from './pseudonyms.ts';

export interface SnapshotOptions extends ClusterOptions {
  readonly output?: string;
  readonly redact: boolean;
}

const KEY_BYTES = 32;
const YAML_EXTENSIONS: readonly string[] = ['.yaml', '.yml'];
/** Readable by its owner only: other users of the machine may not know the names in the cluster. */
const PRIVATE = 0o600;

/** Carries out `plimsoll snapshot`. */
export async function runSnapshot(options: SnapshotOptions, io: ProcessIo): Promise<void> {
  const read = await readAll(options);
  const takenAt = new Date(io.now()).toISOString();
  const pseudonym = options.redact ? createPseudonyms(randomBytes(KEY_BYTES)) : undefined;
  const text = await formatSnapshot(makeSnapshot({ ...read, takenAt }, pseudonym), options.output ?? '');
  if (read.unread.length > 0) io.tell(`Warning: ${leftOut(read.unread)}`);
  if (options.output === undefined) {
    io.print(text);
    return;
  }
  await writeFile(options.output, text, { mode: PRIVATE }).catch((error: unknown) => {
    throw new InputError(`cannot write ${options.output ?? ''}: ${errorText(error)}`, { cause: error });
  });
  io.tell(`Wrote ${read.manifests.length} objects to ${options.output}`);
}

function leftOut(kinds: readonly string[]): string {
  return `you may not list ${kinds.join(', ')}: the snapshot is without them, and plimsoll check leaves out what needs them`;
}

/** The kinds that decisions read, and the records of removed pods. */
const DECISIVE: readonly Resource[] = [...CLUSTER_RESOURCES, DISRUPTIONS, QUEUES, RESCHEDULING_POLICIES];
/** Other kinds that `check`, `explain`, `simulate rescheduling` and `top` read; not every user may list them. */
const SUPPORTING: readonly Resource[] = [
  ...LIMIT_RESOURCES,
  PRIORITY_POLICIES,
  PRIORITY_QUOTAS,
  RESOURCE_QUOTAS,
  CUSTOM_RESOURCE_DEFINITIONS,
  MUTATING_WEBHOOKS,
  VALIDATING_WEBHOOKS,
  MUTATING_POLICIES,
  MUTATING_POLICY_BINDINGS,
  CONFIG_MAPS,
];

interface ReadKinds {
  readonly manifests: readonly Manifest[];
  readonly unread: readonly string[];
}

async function readAll(options: SnapshotOptions): Promise<ReadKinds> {
  return withCluster(options, async ({ client }) => {
    const [decisive, supporting] = await Promise.all([
      Promise.all(DECISIVE.map((resource) => listKept(client, resource))),
      Promise.all(SUPPORTING.map((resource) => listKept(client, resource).catch(unreadKind(resource)))),
    ]);
    return {
      manifests: [...decisive, ...supporting.filter((found) => typeof found !== 'string')].flat().filter(isTelling),
      unread: supporting.filter((found) => typeof found === 'string'),
    };
  });
}

function listKept(client: KubeClient, resource: Resource): Promise<readonly Manifest[]> {
  return listAll(client, resource, { slim: (raw) => keepFields(resource.kind, raw) });
}

/** The kind, if the caller may not list it. */
function unreadKind({ kind }: Resource): (error: unknown) => string {
  return (error) => {
    if (error instanceof ListForbidden) return kind;
    throw error;
  };
}

/** Most ConfigMaps contain nothing to keep. */
function isTelling({ raw }: Manifest): boolean {
  return Object.keys(raw).length > 0;
}

function formatSnapshot(snapshot: Snapshot, path: string): Promise<string> | string {
  return YAML_EXTENSIONS.includes(extname(path)) ? formatYaml(snapshot) : snapshotJson(snapshot);
}
