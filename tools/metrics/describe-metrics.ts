import { code, markdownTable } from '#tools/references/markdown-table.ts';
import { unitOf } from './metric-definition.ts';
import type { ExportedMetric } from './repository-metrics.ts';

const INTRODUCTION = `# Metrics

Every process serves its metrics on port 8080 under \`/metrics\`, in the Prometheus text format. No series has a label for the node: \`deploy/components/pod-monitors\` adds \`node\` when Prometheus scrapes. [Alerts](../runbook.md) and dashboards use these names only, together with a few of Kubernetes itself.

This page is generated from the code (\`npm run generate\`).
`;
const HEADER = ['metric', 'type', 'unit', 'labels', 'exported by', 'help'];

/** The reference page of all metrics, in Markdown. */
export function describeMetrics(metrics: readonly ExportedMetric[]): string {
  return `${INTRODUCTION}\n${markdownTable(HEADER, metrics.map(row))}`;
}

function row(metric: ExportedMetric): readonly string[] {
  const { name, type, labels, components, help } = metric;
  return [code(name), type, unitOf(metric), labels.map(code).join(', '), components.join(', '), help];
}
