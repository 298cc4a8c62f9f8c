import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { describeMetrics } from '#tools/metrics/describe-metrics.ts';
import { repositoryMetrics } from '#tools/metrics/repository-metrics.ts';
import { describeCommandLine } from '#tools/references/describe-command-line.ts';
import { describeConfiguration } from '#tools/references/describe-configuration.ts';
import { describeEvents, repositorySources } from '#tools/references/describe-events.ts';
import { describeMessages, repositoryMessages } from '#tools/references/describe-messages.ts';
import { type Definition, describeObjects, repositoryDefinitions } from '#tools/references/describe-objects.ts';
import type { Artifact } from './artifact.ts';
import { chartReadme } from './chart-readme.ts';
import { definitionArtifacts } from '#tools/definitions/definition-artifacts.ts';
import { guardedFields } from '#tools/definitions/guarded-fields.ts';
import { policyArtifacts } from '#tools/policies/policy-artifacts.ts';
import { fieldTrees } from './field-trees.ts';
import { pageBundle } from './page-bundle.ts';
import { prometheusRule } from './prometheus-rule.ts';
import { versionArtifacts } from './version-artifacts.ts';

export const ALERTS_FILE = 'deploy/alerts/plimsoll.yaml';
const CHART = 'deploy/charts/plimsoll';

/** Everything that is generated from the sources and package-lock.json, without other programs. */
export async function textArtifacts(): Promise<readonly Artifact[]> {
  const alerts = readFileSync(ALERTS_FILE, 'utf8');
  const crds = definitionArtifacts();
  const definitions = repositoryDefinitions(new Map(crds.map(({ path, text }) => [path, text])));
  const own: readonly Artifact[] = [
    ...crds,
    guardedFields(),
    ...policyArtifacts(),
    ...references(definitions),
    { path: 'deploy/components/alerts/prometheus-rule.yaml', text: prometheusRule(alerts) },
    { path: `${CHART}/README.md`, text: chartReadme(readFileSync(`${CHART}/values.yaml`, 'utf8')) },
    { path: 'cli/review/known-fields.json', text: JSON.stringify(fieldTrees(definitions)) },
  ];
  const formatted = await Promise.all(own.map(withFormat));
  return [...formatted, ...versionArtifacts(), ...(await pageBundle())];
}

/** The pages of docs/reference. */
function references(definitions: readonly Definition[]): readonly Artifact[] {
  const pages = {
    metrics: describeMetrics(repositoryMetrics()),
    objects: describeObjects(definitions),
    configuration: describeConfiguration(),
    events: describeEvents(repositorySources),
    messages: describeMessages(repositoryMessages()),
    'command-line': describeCommandLine(),
  };
  return Object.entries(pages).map(([name, text]) => ({ path: `docs/reference/${name}.md`, text }));
}

/** Prettier pads the tables of Markdown, so pages are left as they are. */
async function withFormat({ path, text }: Artifact): Promise<Artifact> {
  if (path.endsWith('.md')) return { path, text };
  const options = await resolveConfig(path);
  return { path, text: await format(text, { ...options, filepath: path }) };
}
