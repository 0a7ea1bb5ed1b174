//! After Azure is as the spec says: ASO behaviour §1.3 steps 16 to 21; and how failures end a pass: §1.7.

use super::*;

#[test]
fn steps_16_to_21_in_order() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 13] = [
        ("1.3 16", "post-check first", |_, _| {}, "PostCheck"),
        ("1.3 16", "fails", |_, o| o.post_check = Some(Ok(PostCheck::Failure("no".into()))), "False/Warning/PostReconciliationFailure, slow"),
        ("1.3 16", "cannot tell", |_, o| o.post_check = Some(Err(conflict())), "False/Warning/Conflict, slow"),
        ("1.3 17", "then exports", |_, o| o.post_check = Some(Ok(PostCheck::Success)), "Export"),
        ("1.3 17", "two exports share a key", |_, o| { o.post_check = Some(Ok(PostCheck::Success)); o.export = Some(Err(Failure::error(reason::EXPORT_FAILED, "both"))); }, "False/Error/FailedWritingAdditionalKubernetesObjects, never"),
        ("1.3 17", "the target is not ours, which may change", |_, o| { o.post_check = Some(Ok(PostCheck::Success)); o.export = Some(Err(Failure::warning(reason::EXPORT_FAILED, RetryClass::Slow, "not ours"))); }, "False/Warning/FailedWritingAdditionalKubernetesObjects, slow"),
        ("1.3 17", "Azure refuses the keys", |_, o| { (o.post_check, o.export) = (Some(Ok(PostCheck::Success)), Some(Err(conflict()))); }, "False/Warning/Conflict, slow"),
        ("1.3 18", "then the hook", |_, o| (o.post_check, o.export) = (Some(Ok(PostCheck::Success)), Some(Ok(()))), "SuccessHook"),
        ("1.3 18", "which fails", |_, o| { (o.post_check, o.export) = (Some(Ok(PostCheck::Success)), Some(Ok(()))); o.success_hook = Some(Err(conflict())); }, "False/Warning/Conflict, slow"),
        ("1.3 19", "Ready, and 21: again after the sync period", |_, o| { (o.post_check, o.export) = (Some(Ok(PostCheck::Success)), Some(Ok(()))); o.success_hook = Some(Ok(())); }, "True//Succeeded, sync"),
        ("1.3 16", "no post-check", |v, _| v.steps.post_check = false, "Export"),
        ("1.3 17", "nothing to export", |v, _| (v.steps.post_check, v.steps.export) = (false, false), "SuccessHook"),
        ("1.3 19", "no step at all", |v, _| v.steps = Steps::default(), "True//Succeeded, sync"),
    ];
    let view = ResourceView {
        steps: Steps {
            post_check: true,
            export: true,
            success_hook: true,
            ..Steps::default()
        },
        ..claimed()
    };
    check(&rows, &view, &equal());
}

/// Every severity and class of §1.7, as a failure of any step carries it to the end of the pass.
#[test]
fn failures_end_a_pass_with_their_class() {
    #[rustfmt::skip] // one row, one line
    let rows: [Row; 7] = [
        ("1.7", "Fast", |_, o| o.inputs = failed(RetryClass::Fast), "False/Warning/Code, fast"),
        ("1.7", "Slow", |_, o| o.inputs = failed(RetryClass::Slow), "False/Warning/Code, slow"),
        ("1.7", "VerySlow", |_, o| o.inputs = failed(RetryClass::VerySlow), "False/Warning/Code, very slow"),
        ("1.7", "None: only a change helps", |_, o| o.inputs = Some(Err(fatal())), "False/Error/LocationRequired, never"),
        ("1.7", "Retry-After, which ASO does not obey", |_, o| { let failure = Failure { retry_after: seconds(17), ..conflict() }; o.inputs = Some(Err(failure)); }, "False/Warning/Conflict, slow, at least 17 s"),
        ("1.7", "Retry-After of what only a change helps", |_, o| { let failure = Failure { retry_after: seconds(17), ..fatal() }; o.inputs = Some(Err(failure)); }, "False/Error/LocationRequired, never"),
        ("1.7", "not an Azure error", |_, o| o.inputs = Some(Err(Failure::unknown("reset"))), "False/Warning/UnknownError, slow"),
    ];
    check(&rows, &claimed(), &signed_in());
}

fn failed(class: RetryClass) -> Option<Result<(), Failure>> {
    Some(Err(Failure::warning("Code", class, "no")))
}
