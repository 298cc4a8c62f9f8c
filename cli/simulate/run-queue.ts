import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { CLUSTER_RESOURCES } from '#cli/cluster/cluster-model.ts';
import { readManifests } from '#cli/cluster/read-manifests.ts';
import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import { isTable, type OutputFormat } from '#cli/output/output-option.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { QUEUES } from '#shared/kube/resource.ts';
import type { ReclaimSettings } from '#shared/domain/queue/reclaim-settings.ts';
import { queueScene } from './queue-scene.ts';
import { printQueues, queueView } from './queue-view.ts';

export interface QueueOptions extends ClusterOptions {
  readonly output: OutputFormat;
  readonly reclaimBy?: ReclaimSettings['by'];
}

const EXIT_SOME_WAIT = 1;

/** Carries out `plimsoll simulate queue`: exit code 0 if no pod keeps waiting, 1 if one does. */
export async function runQueue(options: QueueOptions, io: ProcessIo): Promise<void> {
  const read = await readManifests(options, [...CLUSTER_RESOURCES, QUEUES], io);
  const view = queueView(queueScene(read, options.reclaimBy));
  const { output } = options;
  const answer = { document: objectDocument('QueueSimulation', view), table: () => printQueues(view) };
  io.print(await formatAnswer(answer, output));
  if (isTable(output)) for (const note of view.notes) io.tell(`Note: ${note}`);
  io.exit(view.waiting.length > 0 ? EXIT_SOME_WAIT : 0);
}
