import { code, markdownTable } from '#tools/references/markdown-table.ts';
import type { ExportedMetric } from './repository-metrics.ts';

const INTRODUCTION = `# Metrics

Every process serves its metrics on port 8080 under \`/metrics\`, in the Prometheus text format. The name of a metric ends in its unit. No series has a label for the node: \`deploy/components/pod-monitors\` adds \`node\` when Prometheus scrapes. \`scheduler\` stands for the controller and the extender.

This page is generated from the code (\`npm run generate\`).
`;
const HEADER = ['metric', 'type; labels', 'help'];

/** The reference page of all metrics, in Markdown. */
export function describeMetrics(metrics: readonly ExportedMetric[]): string {
  const sections = [...Map.groupBy(metrics, ({ components }) => components.join(', '))].map(
    ([components, exported]) => `## Exported by ${components}\n\n${markdownTable(HEADER, exported.map(row))}`,
  );
  return [INTRODUCTION, ...sections].join('\n');
}

function row(metric: ExportedMetric): readonly string[] {
  const { name, type, labels, help } = metric;
  return [code(name), [type, ...labels.map(code)].join('; '), help];
}
