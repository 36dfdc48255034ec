/**
 * `postern contract`: what a contract's author does before anything runs - check it, read it merged, compare it with the
 * one before, replay recordings against it, and attack it.
 */
import { Command } from 'commander';
import { diffCommand } from './contract-diff.ts';
import { escapeCommand } from './contract-escape.ts';
import { explainCommand } from './contract-explain.ts';
import { type ContractIo, processIo } from './contract-io.ts';
import { lintCommand } from './contract-lint.ts';
import { testCommand } from './contract-test.ts';

export function contractCommand(io: ContractIo = processIo): Command {
  const command = new Command('contract').description('Check, explain, compare, test and attack contract files. Nothing is called.');
  for (const subcommand of [lintCommand(io), explainCommand(io), diffCommand(io), testCommand(io), escapeCommand(io)])
    command.addCommand(subcommand);
  return command.addHelpText('after', EXAMPLES);
}

const EXAMPLES = `
Examples:
  postern contract lint contracts/
  postern contract explain contracts/issues.yaml
  postern contract diff old/ contracts/
  postern contract test contracts/ --junit report.xml
  postern contract escape contracts/ --runs 500

A directory stands for every .yaml and .yml file below it. Presets that come with Postern need not be named.`;
