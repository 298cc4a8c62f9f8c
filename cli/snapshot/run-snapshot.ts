import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { DISRUPTIONS, QUEUES, RESCHEDULING_POLICIES, type Resource } from '#shared/kube/resource.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { CLUSTER_RESOURCES } from '#cli/cluster/cluster-model.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import { withCluster } from '#cli/cluster/open-cluster.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';
import { formatYaml } from '#cli/output/answer.ts';
import { keepFields } from './kept-fields.ts';
import { createPseudonyms, makeSnapshot, type Snapshot, snapshotJson } from './make-snapshot.ts';

export interface SnapshotOptions extends Pick<ClusterOptions, 'kubeconfig' | 'context'> {
  readonly output?: string;
  readonly redact: boolean;
}

const KEY_BYTES = 32;
const YAML_EXTENSIONS: readonly string[] = ['.yaml', '.yml'];
/** Readable by its owner only: other users of the machine may not know the names in the cluster. */
const PRIVATE = 0o600;

/** Carries out `plimsoll snapshot`. */
export async function runSnapshot(options: SnapshotOptions, io: ProcessIo): Promise<void> {
  const manifests = await readAll(options);
  const takenAt = new Date(io.now()).toISOString();
  const pseudonym = options.redact ? createPseudonyms(randomBytes(KEY_BYTES)) : undefined;
  const text = await formatSnapshot(makeSnapshot(manifests, takenAt, pseudonym), options.output ?? '');
  if (options.output === undefined) {
    io.print(text);
    return;
  }
  await writeFile(options.output, text, { mode: PRIVATE }).catch((error: unknown) => {
    throw new InputError(`cannot write ${options.output ?? ''}: ${errorText(error)}`, { cause: error });
  });
  io.tell(`Wrote ${manifests.length} objects to ${options.output}`);
}

/** What decisions read, and the records of removed pods. */
const SNAPSHOT_RESOURCES: readonly Resource[] = [...CLUSTER_RESOURCES, DISRUPTIONS, QUEUES, RESCHEDULING_POLICIES];

async function readAll(options: SnapshotOptions): Promise<readonly Manifest[]> {
  return withCluster(options, async ({ client }) => {
    const lists = SNAPSHOT_RESOURCES.map((resource) =>
      listAll(client, resource, { slim: (raw) => keepFields(resource.kind, raw) }),
    );
    return (await Promise.all(lists)).flat();
  });
}

function formatSnapshot(snapshot: Snapshot, path: string): Promise<string> | string {
  return YAML_EXTENSIONS.includes(extname(path)) ? formatYaml(snapshot) : snapshotJson(snapshot);
}
