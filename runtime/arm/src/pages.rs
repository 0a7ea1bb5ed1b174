//! Answers that come in pages.

use armature_reconcile::extension::ExtensionError;
use serde_json::Value;

use super::ArmAccess;

/// Pages that are read at most: a service that never ends a list must not keep a worker.
const MOST: usize = 20;

impl ArmAccess {
    /// POST of an action such as `listKeys`; the answer's body, to the end of its list where it comes in pages.
    ///
    /// # Errors
    /// When Azure answers with an error or not at all.
    pub async fn post_all(&self, url: &str) -> Result<Value, ExtensionError> {
        let first = self.post(url, None).await?;
        self.with_pages(first).await
    }

    /// GET of a list, to its end where it comes in pages.
    ///
    /// # Errors
    /// When Azure answers with an error or not at all.
    pub async fn get_all(&self, url: &str) -> Result<Value, ExtensionError> {
        let first = self.get(url).await?;
        self.with_pages(first).await
    }

    async fn with_pages(&self, first: Option<Value>) -> Result<Value, ExtensionError> {
        let mut answer = Value::Null;
        let mut next = add_page(&mut answer, first.unwrap_or_default());
        for _ in 1..MOST {
            let Some(url) = next else { break };
            // Whatever began the list, its pages are read with GET.
            let page = self.get(&url).await?;
            next = add_page(&mut answer, page.unwrap_or_default());
        }
        Ok(answer)
    }
}

/// Adds the items of a page to those of the pages before, and yields where the next page is. Lists of ARM that come in
/// pages have their items in `value`, whatever they are of.
fn add_page(list: &mut Value, mut page: Value) -> Option<String> {
    let next = page["nextLink"].as_str().filter(|link| !link.is_empty());
    let next = next.map(str::to_owned);
    if list.is_null() {
        *list = page;
    } else if let (Some(Value::Array(items)), Some(Value::Array(more))) =
        (list.get_mut("value"), page.get_mut("value"))
    {
        items.append(more);
    }
    next
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use armature_azure::{CredentialKey, Method};
    use armature_reconcile::testing::Journal;
    use serde_json::json;

    use super::super::testing::{MemoryAzure, response};
    use super::*;

    #[test]
    fn pages_become_one_list() {
        let mut list = Value::Null;
        let first = json!({"value": [1, 2], "nextLink": "https://azure/2"});
        assert_eq!(
            add_page(&mut list, first).as_deref(),
            Some("https://azure/2")
        );
        assert_eq!(
            add_page(&mut list, json!({"value": [3], "nextLink": null})),
            None
        );
        assert_eq!(add_page(&mut list, Value::Null), None);
        assert_eq!(list["value"], json!([1, 2, 3]));
        let mut other = Value::Null;
        assert_eq!(add_page(&mut other, json!({"key1": "a"})), None);
        assert_eq!(other, json!({"key1": "a"}));
    }

    #[tokio::test]
    async fn an_answer_is_read_to_its_end() {
        let azure = Arc::new(MemoryAzure::new(Journal::default(), "s-1"));
        let (list, more) = ("/subscriptions/s-1/list", "/subscriptions/s-1/more");
        let page = |body: Value| response(200, &[], Some(body));
        azure.script(
            Method::Post,
            list,
            page(json!({"value": [1], "nextLink": more})),
        );
        azure.script(
            Method::Get,
            more,
            page(json!({"value": [2], "nextLink": more})),
        );
        azure.script(Method::Get, more, page(json!({"value": [3]})));
        let access = ArmAccess::new(azure, CredentialKey::Global);
        let answer = access.post_all(list).await.expect("an answer");
        assert_eq!(answer["value"], json!([1, 2, 3]));
    }
}
