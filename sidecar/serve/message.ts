/** Descriptions of actions as messages of postern.v1. */
import { create } from '@bufbuild/protobuf';
import {
  type Action,
  ActionSchema,
  ApprovalMode,
  Best,
  Effect,
  ResultShape_Kind,
  ResultShape_Presence,
} from '#proto/postern/v1/action_pb.ts';
import { Absence } from '#proto/postern/v1/completeness_pb.ts';
import type { ActionDescription } from '#sidecar/call/calls.ts';

export const EFFECT = { Read: Effect.READ, Write: Effect.WRITE, Destructive: Effect.DESTRUCTIVE } as const;
const APPROVAL = { None: ApprovalMode.NONE, Session: ApprovalMode.SESSION, EachCall: ApprovalMode.EACH_CALL } as const;
const BEST = { Complete: Best.COMPLETE, SinglePage: Best.SINGLE_PAGE, Partial: Best.PARTIAL } as const;
const ABSENCE = { provable: Absence.PROVABLE, never: Absence.NEVER } as const;
const KIND = { items: ResultShape_Kind.ITEMS, object: ResultShape_Kind.OBJECT, aggregate: ResultShape_Kind.AGGREGATE } as const;
const PRESENCE = {
  Required: ResultShape_Presence.REQUIRED,
  Optional: ResultShape_Presence.OPTIONAL,
  Restricted: ResultShape_Presence.RESTRICTED,
} as const;

export function actionMessage(action: ActionDescription): Action {
  const { pages, items, bytes, timeMs } = action.limits;
  return create(ActionSchema, {
    action: action.action,
    summary: action.summary,
    owner: action.owner,
    effect: EFFECT[action.effect],
    ready: action.ready,
    notReady: action.notReady,
    argumentsSchemaJson: JSON.stringify(action.argumentsSchema),
    result: {
      as: action.result.as,
      kind: KIND[action.result.shape],
      fields: action.result.fields.map(({ name, presence }) => ({ name, presence: PRESENCE[presence] })),
      allFields: action.result.allFields,
    },
    approval: APPROVAL[action.approval],
    best: BEST[action.best],
    absence: ABSENCE[action.absence],
    exclusions: [...action.exclusions],
    limits: { pages, items, bytes: BigInt(bytes), timeMs },
    evidenceFrom: action.evidenceFrom,
    revision: action.revision,
  });
}
