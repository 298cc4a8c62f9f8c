import { formatAnswer, objectDocument } from '#cli/output/answer.ts';
import type { OutputFormat } from '#cli/output/output-option.ts';
import type { ProcessIo } from '#cli/process-io.ts';
import { formatTable, printLine } from '#cli/output/table.ts';
import { findLeftovers } from './clean-up.ts';
import { cannotCleanUp, cleanedUp, deleted, NOTHING_INSTALLED, NOTHING_LEFT } from './messages.ts';
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

const EXIT_LEFT = 1;

/** Carries out `plimsoll uninstall --clean-up`: exit code 1 if something stays. */
export async function runCleanUp(
  { isDryRun, ...cluster }: Omit<UninstallOptions, 'output'> & { readonly isDryRun: boolean },
  io: ProcessIo,
): Promise<void> {
  const { withCluster } = await import('#cli/cluster/open-cluster.ts');
  await withCluster(cluster, async ({ client }) => {
    const leftovers = await findLeftovers(client);
    if (leftovers.length === 0) io.tell(NOTHING_LEFT);
    for (const { what, remove } of leftovers) {
      const outcome = isDryRun ? undefined : await remove();
      const isGone = outcome === undefined || outcome.kind === 'ok' || outcome.kind === 'notFound';
      if (isGone) io.print(printLine(cleanedUp(what, isDryRun)));
      else {
        io.tell(cannotCleanUp(what, outcome.message));
        io.exit(EXIT_LEFT);
      }
    }
  });
}

function printPlan({ removed, stays }: UninstallPlan): string {
  const lines = removed.map(({ resource, name, namespace }) => printLine(deleted(resource, name, namespace)));
  if (stays.length === 0) return lines.join('');
  const rows = stays.map(({ what, next }) => [what, next]);
  return `${lines.join('')}${lines.length > 0 ? '\n' : ''}${formatTable(['STAYS', 'HOW TO REMOVE IT'], rows)}`;
}
