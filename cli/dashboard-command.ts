import { Command, InvalidArgumentError } from 'commander';
import { NAMESPACE_SYSTEM } from '#shared/kube/api-names.ts';
import { addConnectionOptions } from './cluster/cluster-options.ts';
import type { DashboardCommandOptions } from './dashboard/run-dashboard.ts';
import { type ProcessIo, rootName } from './process-io.ts';

function help(program: string): string {
  return `
Forwards a port of this machine to the dashboard in the cluster and prints the
address to open, with a token: your own if your kubeconfig has one, else name a
service account. What the page shows is what that user or account may see; it
needs the ClusterRole plimsoll-viewer. Keep the address to yourself. Runs until
interrupted.

It needs the rights to list pods and create pods/portforward in the namespace of
the dashboard, and with --service-account to create serviceaccounts/token.

Examples:
  ${program} dashboard

  # As a service account, whose token ends after an hour
  ${program} dashboard --service-account team-a/viewer
`;
}

/** `plimsoll dashboard`: the dashboard of the cluster on this machine. */
export function dashboardCommand(io: ProcessIo): Command {
  const command = new Command('dashboard');
  command
    .summary('forward a port to the dashboard, and print its address')
    .description('Forward a local port to the dashboard in the cluster, and print the address with a token.')
    .option('--port <port>', 'local port; 0 for any that is free', parsePort, 8081)
    .option('--service-account <account>', 'use a token of this account: NAMESPACE/NAME')
    .option('-n, --namespace <namespace>', 'namespace of the dashboard', NAMESPACE_SYSTEM);
  return addConnectionOptions(command)
    .addHelpText('after', () => help(rootName(command)))
    .action(async (options: DashboardCommandOptions) => {
      const { runDashboard } = await import('./dashboard/run-dashboard.ts');
      await runDashboard(options, io);
    });
}

const LAST_PORT = 65_535;

function parsePort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= LAST_PORT) return Number(text);
  throw new InvalidArgumentError(`Expected a port from 0 to ${LAST_PORT}.`);
}
