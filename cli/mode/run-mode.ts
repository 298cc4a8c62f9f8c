import { createInterface } from 'node:readline';
import type { Mode } from '#shared/api/node-pressure-policy/policy.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { type DryRunStrategy, InputError, type ProcessIo } from '#cli/process-io.ts';
import { printable, printLine } from '#cli/output/table.ts';
import { decodeNodePressure, type NodePressure } from '#shared/api/node-pressure.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf, isRecord } from '#shared/kube/decode/wire-object.ts';
import { NODE_PRESSURE_POLICIES, NODE_PRESSURES, NODES } from '#shared/kube/resource.ts';
import { listAll } from '#cli/cluster/list-all.ts';
import { type Manifest, nameOf } from '#cli/manifests/parse-manifests.ts';
import {
  cannotPatch,
  noNodeSelected,
  NOT_CONFIRMED,
  nothingToChange,
  patched,
  QUESTION,
  staysDryRun,
  target,
  withoutPolicy,
} from './messages.ts';
import {
  type ModePlan,
  type ModeQuestion,
  modeRows,
  patchPolicy,
  planMode,
  type PolicyChange,
  printRows,
} from './plan-mode.ts';

export interface ModeOptions {
  readonly nodeSelector: string;
  readonly dryRun: DryRunStrategy;
  readonly yes: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
}

const EXIT_REFUSED = 1;

/**
 * Carries out `plimsoll mode`: exit code 1 if a policy is not changed, because of an obstacle or a refusal by the API
 * server.
 */
export async function runMode(mode: Mode, options: ModeOptions, io: ProcessIo): Promise<void> {
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(options, async ({ client, server, origin }) => {
    io.tell(printable(target(server, origin)));
    const pool = await readPool(client, options.nodeSelector);
    if (pool.selected.size === 0) throw new InputError(noNodeSelected(options.nodeSelector));
    const plan = planMode({ ...pool, mode });
    if (isRefused(plan, io)) {
      io.exit(EXIT_REFUSED);
      return;
    }
    const rows = printRows(modeRows(plan.changes, pool.pressures, io.now()));
    if (options.dryRun !== 'none') io.print(rows);
    else if (needsConsent(plan, mode, options) && !(await isConfirmed(rows, io, QUESTION))) {
      io.tell(NOT_CONFIRMED);
      io.exit(EXIT_REFUSED);
      return;
    }
    for (const change of plan.changes) await carryOut(change, client, options.dryRun, io);
    warn(plan, io);
  });
}

/** Returning to DryRun harms no pod, and may be urgent. */
function needsConsent({ changes }: ModePlan, mode: Mode, { yes }: ModeOptions): boolean {
  return !yes && mode === 'Enforce' && changes.some(({ spec }) => spec !== undefined);
}

/** Shows the planned changes and asks for confirmation; standard output is reserved for results. */
export async function isConfirmed(rows: string, io: ProcessIo, question: string): Promise<boolean> {
  io.tell(rows.trimEnd());
  io.tell(question);
  return /^y(es)?$/i.test(await firstLine(io.standardInput));
}

async function firstLine(input: ProcessIo['standardInput']): Promise<string> {
  const lines = createInterface({ input });
  const { value } = await lines[Symbol.asyncIterator]().next();
  lines.close();
  return (value ?? '').trim();
}

/** Prints the obstacles; if there is any, no policy is changed, so that a pool changes as a whole. */
function isRefused({ changes, withoutPolicy: bare, obstacles }: ModePlan, io: ProcessIo): boolean {
  const found = changes.length === 0 && obstacles.length === 0 ? [nothingToChange(bare)] : obstacles;
  for (const { text, next } of found) io.tell(printLine(`error: ${text}; ${next}`).trimEnd());
  return found.length > 0;
}

function warn({ changes, withoutPolicy: bare }: ModePlan, io: ProcessIo): void {
  if (bare.length > 0) io.tell(withoutPolicy(bare));
  for (const { policy, stillDryRun } of changes) if (stillDryRun.length > 0) io.tell(staysDryRun(policy, stillDryRun));
}

async function carryOut(
  change: PolicyChange,
  client: KubeClient,
  strategy: DryRunStrategy,
  io: ProcessIo,
): Promise<void> {
  const { policy, spec } = change;
  const refusal =
    spec === undefined || strategy === 'client' ? undefined : await patchPolicy(change, client, strategy === 'server');
  if (refusal === undefined) {
    io.print(printLine(patched(policy, { isChanged: spec !== undefined, strategy })));
    return;
  }
  io.tell(printLine(cannotPatch(policy, refusal)).trimEnd());
  io.exit(EXIT_REFUSED);
}

/** The policies and reports of a cluster's nodes. */
type Pool = Omit<ModeQuestion, 'mode'> & { readonly pressures: readonly NodePressure[] };

/** Reads them; the API server itself evaluates the node selector. Rejects with an InputError. */
async function readPool(client: KubeClient, labelSelector: string): Promise<Pool> {
  const [nodes, selected, policies, pressures] = await Promise.all([
    listAll(client, NODES, { slim: identityOf }),
    listAll(client, NODES, { slim: identityOf, labelSelector }),
    listAll(client, NODE_PRESSURE_POLICIES),
    listAll(client, NODE_PRESSURES),
  ]);
  return {
    nodes: nodes.map((each) => ({ name: nameOf(each), labels: labelsOf(each) })),
    selected: new Set(selected.map(nameOf)),
    policies: policies.map(({ raw }) => raw as KubeObject),
    pressures: pressures.map(({ raw }) => decodeNodePressure(raw)),
  };
}

function identityOf({ metadata }: Manifest['raw']): Manifest['raw'] {
  return { metadata: { name: fieldOf(metadata, 'name'), labels: fieldOf(metadata, 'labels') } };
}

function labelsOf({ raw }: Manifest): ReadonlyMap<string, string> {
  const labels = fieldOf(raw['metadata'], 'labels');
  return new Map(Object.entries(isRecord(labels) ? labels : {}).map(([key, value]) => [key, String(value)]));
}
