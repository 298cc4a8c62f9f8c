import type { Pod } from '#shared/domain/pod/pod.ts';
import { preemptView } from '#shared/decide/simulation/preempt-view.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { CLUSTER_RESOURCES, type ClusterModel, storedModel } from '#cli/cluster/cluster-model.ts';
import { findPod, readPodFile } from '#cli/cluster/find-pod.ts';
import { placementOf } from '#cli/cluster/placement.ts';
import { readWithQueues } from '#cli/cluster/read-manifests.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import { isTable, type OutputFormat } from '#cli/output/output-option.ts';
import { alreadyPlaced } from './messages.ts';
import { printPreempt } from './print-answers.ts';

export interface PreemptCommandOptions extends ClusterOptions {
  readonly pod?: string;
  readonly podFile?: string;
  readonly namespace?: string;
  readonly extender: boolean;
  readonly budgets: 'BestEffort' | 'Hard';
  readonly output: OutputFormat;
}

const EXIT_NOT_PLACEABLE = 1;

/** Carries out `plimsoll simulate preempt`: exit code 0 if the pod would be placed, 1 if not. */
export async function runPreempt(options: PreemptCommandOptions, io: ProcessIo): Promise<void> {
  const read = await readWithQueues(options, CLUSTER_RESOURCES, io);
  const model = storedModel(read);
  const pod = await wantedPod(options, model, { namespace: options.namespace ?? read.namespace, io });
  const view = preemptView(placementOf(model, pod, { ...options, now: read.now }));
  const { output } = options;
  const answer = { document: objectDocument('PreemptionSimulation', view), table: () => printPreempt(view) };
  io.print(await formatAnswer(answer, output));
  if (isTable(output)) for (const note of view.notes) io.tell(`Note: ${note}`);
  io.exit(view.outcome === 'notPlaceable' ? EXIT_NOT_PLACEABLE : 0);
}

interface Whereabouts {
  readonly namespace: string;
  readonly io: Pick<ProcessIo, 'standardInput'>;
}

async function wantedPod(
  { pod, podFile }: PreemptCommandOptions,
  model: ClusterModel,
  { namespace, io }: Whereabouts,
): Promise<Pod> {
  if (podFile !== undefined) return readPodFile(podFile, model, { ...io, namespace });
  const found = findPod(model, pod ?? '', namespace);
  const { nodeName = '' } = found.spec;
  if (nodeName === '') return found;
  throw new InputError(alreadyPlaced(`${found.namespace}/${found.name}`, nodeName));
}
