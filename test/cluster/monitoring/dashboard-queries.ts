import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const DASHBOARDS = fileURLToPath(new URL('../../../deploy/dashboards/', import.meta.url));
/** What a variable of Grafana stands for when everything is chosen, over the last minutes. */
const VALUES: readonly (readonly [RegExp, string])[] = [
  [/\$__(?:rate_interval|range)/g, '5m'],
  [/\$\w+/g, '.*'],
];

interface Board {
  readonly title: string;
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
  }[];
}

/** Every query of every panel, as Grafana sends it: by dashboard, panel and legend. */
export function dashboardQueries(): ReadonlyMap<string, string> {
  const files = readdirSync(DASHBOARDS).filter((name) => name.endsWith('.json'));
  const boards = files.map((name) => JSON.parse(readFileSync(`${DASHBOARDS}${name}`, 'utf8')) as Board);
  return new Map(boards.flatMap(queriesOf));
}

function queriesOf({ title, panels }: Board): readonly (readonly [string, string])[] {
  return panels.flatMap((panel) =>
    panel.targets.map(
      ({ expr, legendFormat }) => [`${title} › ${panel.title} › ${legendFormat}`, filledIn(expr)] as const,
    ),
  );
}

function filledIn(expr: string): string {
  return VALUES.reduce((query, [variable, value]) => query.replaceAll(variable, value), expr);
}
