import { z } from 'zod';
import type { KindDefinition } from './kind-definition.ts';
import { CRD_WORDS } from '#shared/api/schema/crd-words.ts';
import { CATEGORY, SHORT_NAMES } from '#shared/kube/api-names.ts';

/** The CustomResourceDefinition of a kind. */
export function customResourceDefinition({ resource, columns, schema, selectableFields }: KindDefinition): object {
  const { group, version, plural, kind, namespaced } = resource;
  const singular = kind.toLowerCase();
  const shortNames = [SHORT_NAMES[kind as keyof typeof SHORT_NAMES]];
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      labels: { 'app.kubernetes.io/name': 'plimsoll', 'app.kubernetes.io/part-of': 'plimsoll' },
    },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: { kind, listKind: `${kind}List`, plural, singular, shortNames, categories: [CATEGORY] },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: columns,
          ...(selectableFields && {
            selectableFields: selectableFields.map((field) => ({ jsonPath: `.spec.${field}` })),
          }),
          schema: { openAPIV3Schema: objectSchema(schema) },
        },
      ],
    },
  };
}

function objectSchema(schema: z.ZodObject): object {
  const { properties, ...rest } = structuralSchema(schema);
  return {
    ...rest,
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...properties,
    },
  };
}

type JsonSchema = Readonly<Record<string, unknown>> & {
  readonly type?: string;
  readonly additionalProperties?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly defaultValue?: unknown;
  readonly isRequired?: boolean;
};

/** The schema of an object as the API server takes it; its integers are unbounded unless it says otherwise. */
export function structuralSchema(schema: z.ZodObject) {
  const json = z.toJSONSchema(schema, { io: 'input', reused: 'inline', unrepresentable: 'any', metadata: CRD_WORDS });
  return structural(json as JsonSchema) as JsonSchema & { readonly properties: Readonly<Record<string, JsonSchema>> };
}

/** Bounds of the types themselves. */
const UNBOUNDED: readonly unknown[] = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, -(2 ** 31), 2 ** 31 - 1];
const FOREIGN = ['$schema', 'propertyNames', 'readOnly', 'defaultValue', 'isRequired'];
const EITHER = { anyOf: [{ type: 'integer' }, { type: 'string' }] };

function structural(json: JsonSchema): JsonSchema {
  const words = Object.entries(json).filter(
    ([key, each]) => !FOREIGN.includes(key) && !(['minimum', 'maximum'].includes(key) && UNBOUNDED.includes(each)),
  );
  const { defaultValue, required = [], properties = {} } = json;
  const also = Object.keys(properties).filter((key) => properties[key]?.isRequired === true);
  return {
    ...Object.fromEntries(words.map(([key, each]) => [key, INNER[key]?.(each as never) ?? each])),
    ...(required.length + also.length > 0 && { required: [...required, ...also] }),
    ...(defaultValue !== undefined && { default: defaultValue }),
    ...(json['x-kubernetes-int-or-string'] === true && EITHER),
  };
}

/** The words below which there are schemas again. */
const INNER: Readonly<Record<string, ((value: never) => unknown) | undefined>> = {
  items: structural,
  additionalProperties: structural,
  properties: (fields: Readonly<Record<string, JsonSchema>>) =>
    Object.fromEntries(Object.entries(fields).map(([key, each]) => [key, structural(each)])),
};
