import { isMap, isScalar, parseDocument, type Pair, type YAMLMap } from 'yaml';
import { code, markdownTable } from '#tools/references/markdown-table.ts';

const HEADING = `# Plimsoll

Makes overcommit safe on shared Kubernetes nodes: admission by priority, node-pressure eviction, coordinated preemption. The chart creates the objects of \`deploy/base\`, and with values those of its overlays and components.

\`\`\`
helm install plimsoll . --namespace plimsoll-system --create-namespace --set image.repository=registry.example.com/plimsoll
helm test plimsoll --namespace plimsoll-system
\`\`\`

By default, agents report evictions and evict no pods. \`helm upgrade\` upgrades the CustomResourceDefinitions; \`helm uninstall\` keeps them unless \`crds.keep\` is false.

Objects are in the namespaces \`plimsoll-system\` and \`plimsoll-node\`, whatever the namespace of the release is: admission policies name the service accounts there. \`namespaceOverride\` and \`agent.namespaceOverride\` name others, from the first installation on. A namespace that exists already must be that of the release: \`--namespace team-infra --set namespaceOverride=team-infra\`. Set \`PLIMSOLL_NAMESPACE\` and \`PLIMSOLL_AGENT_NAMESPACE\` to the same names where you use the command line.

An unknown key of a value is refused with its path. What Kubernetes defines, such as \`affinity\`, is checked by the API server alone.

The heap of each process follows \`resources.limits.memory\`: what is not heap stays as large as with the default limit.

## Values

A default that is not shown here is a longer one; values.yaml has it.

`;

/** Longer defaults are only in values.yaml. */
const MAX_DEFAULT_LENGTH = 60;

/** README.md of the chart: each value of values.yaml with its default and the comment \`# --\` above it. */
export function chartReadme(values: string): string {
  const root = parseDocument(values).contents as YAMLMap;
  const rows = rowsOf(root, '').map(([path, value, text]) => [code(path), code(value), text]);
  return `${HEADING}${markdownTable(['value', 'default', 'meaning'], rows)}`;
}

function rowsOf(map: YAMLMap, path: string): readonly (readonly [path: string, value: string, text: string])[] {
  return map.items.flatMap((pair) => {
    const name = `${path}${keyOf(pair)}`;
    const text = commentOf(pair, map);
    if (text !== undefined) return [[name, defaultOf(pair.value), text] as const];
    return isMap(pair.value) ? rowsOf(pair.value, `${name}.`) : [];
  });
}

function keyOf({ key }: Pair): string {
  return isScalar(key) ? String(key.value) : '';
}

/** The parser gives the first comment of a map to the map. */
function commentOf({ key }: Pair, map: YAMLMap): string | undefined {
  const isFirst = map.items[0]?.key === key;
  const text = (isScalar(key) ? key.commentBefore : undefined) ?? (isFirst ? map.commentBefore : undefined);
  return text === undefined || text === null ? undefined : /^ -- (.*)$/m.exec(text)?.[1];
}

function defaultOf(value: unknown): string {
  const plain: unknown = isScalar(value) ? value.value : (value as YAMLMap).toJSON();
  const text = JSON.stringify(plain);
  return text.length > MAX_DEFAULT_LENGTH ? '' : text;
}
