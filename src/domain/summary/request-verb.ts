/**
 * Owns the verbs by which agents ask each other for work, in the base form.
 * It refuses forms that read the same in the past ("read", "put"): "@BlueLake read the log" asks for nothing.
 */

import { comparedForm } from "../text/word-forms.ts"

const REQUEST_VERBS = `
     add address adjust announce apply approve archive ask assign audit automate backport benchmark block
  build bump cache check clarify clean close commit compare complete configure confirm convert
  coordinate create debug define delete deploy describe design disable document double-check draft drop
  enable ensure escalate estimate evaluate export expose extend extract file finalize finish fix follow
  format generate handle hold implement import improve inform integrate investigate join keep land leave
  lint list log look make mark measure merge migrate monitor move notify open optimize own pair patch
  pin ping port post prepare profile propose provide publish pull push rebase record refactor regenerate
  register release remove rename reopen replace reply report reproduce request rerun reserve resolve
  respond restart restore resume retest retry return revert review revisit rewrite roll rotate run
  schedule send share ship sign simplify squash start stop submit summarize switch sync tag take tell test
  trace track transfer triage try tweak unblock update upgrade upload use validate verify wait watch
  wire work write`
  .trim()
  .split(/\s+/)

/** The source of a pattern for one request verb, word boundaries not included. */
export const REQUEST_VERB_PATTERN = `(?:${REQUEST_VERBS.join("|")})`

const VERB_STEMS = new Set([...REQUEST_VERBS, "cut", "put", "read", "set", "split"].map(comparedForm))

/** Whether a word, in the form in which words are compared, is the verb of a request. */
export function isRequestVerb(form: string): boolean {
  return VERB_STEMS.has(form)
}
