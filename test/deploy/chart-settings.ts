import { readFileSync } from 'node:fs';

const SCHEMA = 'deploy/charts/plimsoll/values.schema.json';

interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

/** The settings of the chart: paths down to where the schema leaves the shape to Kubernetes. `enabled` belongs to parent charts. */
export function chartSettings(): readonly string[] {
  const root = JSON.parse(readFileSync(SCHEMA, 'utf8')) as Schema;
  return settings(root, root.$defs ?? {}).filter((path) => path !== 'enabled');
}

function settings(of: Schema, definitions: Readonly<Record<string, Schema>>, path = ''): readonly string[] {
  return Object.entries(propertiesOf(of, definitions)).flatMap(([key, child]) => {
    const below = settings(child, definitions, `${path}${key}.`);
    return below.length === 0 ? [`${path}${key}`] : below;
  });
}

function propertiesOf(schema: Schema, definitions: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  const named = definitions[schema.$ref?.replace('#/$defs/', '') ?? ''];
  // What a pod may ask for is Kubernetes' to say.
  if (named !== undefined && schema.$ref === '#/$defs/resources') return {};
  const others = [...(named === undefined ? [] : [named]), ...(schema.allOf ?? [])];
  return Object.assign({}, ...others.map((each) => propertiesOf(each, definitions)), schema.properties) as Readonly<
    Record<string, Schema>
  >;
}
