import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import type { OutputFormat } from '#cli/output/output-option.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { formatTable, printLine } from '#cli/output/table.ts';
import { deleted, NOTHING_INSTALLED } from './messages.ts';
import { planUninstall, type UninstallPlan } from './plan-uninstall.ts';
import { readInstallation } from './read-installation.ts';

export interface UninstallOptions {
  readonly output: OutputFormat;
  readonly kubeconfig?: string;
  readonly context?: string;
}

/** Carries out `plimsoll uninstall --dry-run=client`. */
export async function runUninstall({ output, ...cluster }: UninstallOptions, io: ProcessIo): Promise<void> {
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  const plan = planUninstall(await withCluster(cluster, ({ client }) => readInstallation(client)));
  if (plan.removed.length === 0) io.tell(NOTHING_INSTALLED);
  const answer = {
    document: objectDocument('UninstallPlan', plan),
    table: () => printPlan(plan),
    names: plan.removed.map(({ resource, name }) => `${resource}/${name}`),
  };
  io.print(await formatAnswer(answer, output));
}

function printPlan({ removed, stays }: UninstallPlan): string {
  const lines = removed.map(({ resource, name, namespace }) => printLine(deleted(resource, name, namespace)));
  if (stays.length === 0) return lines.join('');
  const rows = stays.map(({ what, next }) => [what, next]);
  return `${lines.join('')}${lines.length > 0 ? '\n' : ''}${formatTable(['STAYS', 'HOW TO REMOVE IT'], rows)}`;
}
