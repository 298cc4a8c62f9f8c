import { type ActingSignal, resourceOf } from '#shared/domain/pressure/signal.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { type Quantity, quantitySign } from '#shared/domain/quantity/quantity.ts';
import { decodeObject, readAmounts, readObject } from '#shared/kube/decode/wire-object.ts';
import { NODES } from '#shared/kube/resource.ts';
import type { NamedUsage } from '#shared/decide/simulation/pod-usage.ts';
import { answerPressure } from '#shared/decide/simulation/pressure-model.ts';
import { pressureView } from '#shared/decide/simulation/pressure-view.ts';
import type { ClusterOptions } from '#cli/cluster/cluster-options.ts';
import { CLUSTER_RESOURCES, decodeManifest, storedModel, type ClusterModel } from '#cli/cluster/cluster-model.ts';
import { nameOfType } from '#cli/cluster/find-pod.ts';
import { readManifests, type ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { InputError, type ProcessIo } from '#cli/process-io.ts';
import { nameOf } from '#cli/manifests/parse-manifests.ts';
import { readFiles } from '#cli/manifests/read-files.ts';
import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import { isTable, type OutputFormat } from '#cli/output/output-option.ts';
import { ADD_FIGURES, expectedAmount, noSuchNode } from './messages.ts';
import { parseUsage } from './parse-usage.ts';
import { printPressure } from './print-answers.ts';

export interface PressureOptions extends ClusterOptions {
  readonly node: string;
  readonly available: string;
  readonly signal: ActingSignal;
  readonly usage?: string;
  readonly output: OutputFormat;
}

const EXIT_NOBODY = 1;
/** Metrics of 150,000 pods have some 60 MiB. */
const LARGEST_USAGE_MIB = 100;

/** Carries out `plimsoll simulate pressure`: exit code 0 if a pod would be evicted, 1 if none. */
export async function runPressure(options: PressureOptions, io: ProcessIo): Promise<void> {
  const available = readAvailable(options.available);
  const read = await readManifests(options, CLUSTER_RESOURCES, io);
  const model = storedModel(read);
  const { signal, output } = options;
  const node = findNode(model, nameOfType(options.node, 'node'));
  const question = {
    node,
    nodeMemory: memoryOf(read, node.name),
    signal,
    available,
    named: await namedUsage(options, io),
    now: read.now,
  };
  const view = pressureView(question, answerPressure(model, question));
  const answer = { document: objectDocument('PressureSimulation', view), table: () => printPressure(view) };
  io.print(await formatAnswer(answer, output));
  const notes = view.withoutFigure.length === 0 ? view.notes : [...view.notes, ADD_FIGURES];
  if (isTable(output)) for (const note of notes) io.tell(`Note: ${note}`);
  io.exit(view.victims.length > 0 ? 0 : EXIT_NOBODY);
}

function readAvailable(text: string): Quantity {
  const parsed = parseQuantity(text);
  if (parsed.ok && quantitySign(parsed.quantity) >= 0) return parsed.quantity;
  throw new InputError(expectedAmount(text));
}

function findNode({ nodes }: ClusterModel, wanted: string): ClusterModel['nodes'][number] {
  const found = nodes.find(({ name }) => name === wanted);
  if (found !== undefined) return found;
  throw new InputError(
    noSuchNode(
      wanted,
      nodes.map(({ name }) => name),
    ),
  );
}

function memoryOf({ manifests }: ClusterManifests, node: string): Quantity | undefined {
  const found = manifests.find((each) => each.kind === NODES.kind && nameOf(each) === node);
  return found && decodeManifest(found, decodeMemory);
}

function decodeMemory(raw: unknown) {
  return decodeObject(raw, (node) =>
    readObject(node, 'status', (status) => readAmounts(status, 'capacity'))?.get('memory'),
  );
}

async function namedUsage(
  { usage, signal }: PressureOptions,
  { standardInput }: Pick<ProcessIo, 'standardInput'>,
): Promise<NamedUsage> {
  if (usage === undefined) return new Map();
  const files = await readFiles([usage], standardInput, LARGEST_USAGE_MIB);
  return new Map(files.flatMap((file) => [...parseUsage(file, resourceOf(signal))]));
}
